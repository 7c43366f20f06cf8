//! The limits of scripts.

/// Running time of a stored procedure, or of the triggers of one write.
pub const SCRIPT_MILLIS_MAX: u64 = 5_000;
/// From then on no operations are accepted, so that the script can report its progress in time.
pub const SCRIPT_ACCEPT_MILLIS_MAX: u64 = 3_000;
/// Total time of the user-defined functions of one page of a query.
pub const UDF_MILLIS_MAX: u64 = 5_000;
/// Memory and stack of one JavaScript runtime.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
pub const SCRIPT_STACK_BYTES_MAX: usize = 256 * 1024;
/// The output of a script, and the log that is kept.
pub const SCRIPT_OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const SCRIPT_LOG_BYTES_MAX: usize = 4 * 1024;
/// Operations of one script, and the text that it writes; it is told to stop before it reaches these limits.
pub const SCRIPT_OPERATIONS_MAX: u64 = 10_000;
pub const SCRIPT_WRITTEN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Items per query page in a script, if it specifies no number.
pub const SCRIPT_PAGE_ITEMS_DEFAULT: usize = 100;
/// Grace period after a script's time limit in which its process may end it properly before it is killed.
pub const SCRIPT_KILL_GRACE_MILLIS: u64 = 250;
/// Interval at which the server checks the clock while it waits for a script's process.
pub const SCRIPT_WAIT_SLICE_MILLIS: u64 = 50;
/// Running time after which a script is long: it gives up its slot and yields the processor.
pub const SCRIPT_SHORT_MILLIS_MAX: u64 = 500;
/// Idle script processes to keep, once there were as many, and processes in total.
pub const SCRIPT_WORKERS_WARM: usize = 2;
pub const SCRIPT_WORKERS_IDLE_MAX: usize = 8;
/// The longest message that a script's process may send.
pub const SCRIPT_FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Total memory of a script's process: the JavaScript heap, and copies of input and output.
pub const SCRIPT_PROCESS_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The part of a thrown error's message and stack trace that is kept.
pub const SCRIPT_ERROR_BYTES_MAX: usize = 16 * 1024;
