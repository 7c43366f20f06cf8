//! Limits of schemas and of the reported violations.

/// Nesting of arrays and objects in a schema.
pub const SCHEMA_LEVELS_MAX: usize = 64;
/// Parts of one schema with references followed, and the nesting depth of such an expansion.
pub const SCHEMA_PARTS_MAX: u64 = 10_000;
pub const SCHEMA_REFERENCE_LEVELS_MAX: usize = 64;
/// Regular expressions of one schema, and the compiled size of each.
pub const SCHEMA_PATTERNS_MAX: usize = 128;
pub const SCHEMA_PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Levels of an item times levels of a recursive schema, limited by the stack.
pub const SCHEMA_RECURSION_LEVELS_MAX: usize = 1_024;
/// Values of an item, counted once per recursion that visits them, up to which all violations are searched.
pub const SCHEMA_EXPLAIN_STEPS_MAX: u64 = 100_000;
/// The length of an error message about a schema.
pub const SCHEMA_REFUSAL_CHARS_MAX: usize = 1_000;
/// Reported violations per item; the length of a violation's path and reason; the length of quoted strings.
pub const VIOLATIONS_SHOWN_MAX: usize = 5;
pub const VIOLATION_POINTER_CHARS_MAX: usize = 200;
pub const VIOLATION_REASON_CHARS_MAX: usize = 300;
pub const VIOLATION_VALUE_BYTES_MAX: usize = 60;
