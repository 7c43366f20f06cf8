//! The limits of migration plans.

/// A plan file: its size, its nesting depth, the values that aliases may expand to, and its rules.
pub const MIGRATION_PLAN_BYTES_MAX: usize = 1024 * 1024;
pub const MIGRATION_PLAN_LEVELS_MAX: usize = 64;
pub const MIGRATION_PLAN_VALUES_MAX: usize = 200_000;
pub const MIGRATION_RULES_MAX: usize = 1000;
