//! Limits of schemas and of what is told of items.

/// Arrays and objects of a schema inside one another.
pub const SCHEMA_LEVELS_MAX: usize = 64;
/// Parts of one schema when its references are followed, and parts inside one another on such a way.
pub const SCHEMA_PARTS_MAX: u64 = 10_000;
pub const SCHEMA_REFERENCE_LEVELS_MAX: usize = 64;
/// Regular expressions of one schema, and what one of them takes when it is compiled.
pub const SCHEMA_PATTERNS_MAX: usize = 128;
pub const SCHEMA_PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Levels of an item times levels of a recursive schema: what there is stack for.
pub const SCHEMA_RECURSION_LEVELS_MAX: usize = 1_024;
/// Values of an item, each as often as recursions meet it, up to which all that is wrong with it is looked for.
pub const SCHEMA_EXPLAIN_STEPS_MAX: u64 = 100_000;
/// What is said of a schema that is refused.
pub const SCHEMA_REFUSAL_CHARS_MAX: usize = 1_000;
/// Violations that are told of one item; how long the place and the reason of one are; texts that are shown in them.
pub const VIOLATIONS_SHOWN_MAX: usize = 5;
pub const VIOLATION_POINTER_CHARS_MAX: usize = 200;
pub const VIOLATION_REASON_CHARS_MAX: usize = 300;
pub const VIOLATION_VALUE_BYTES_MAX: usize = 60;
