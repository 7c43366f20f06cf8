//! The limits of scripts.

/// How long a stored procedure, or the triggers of one write, may run.
pub const SCRIPT_MILLIS_MAX: u64 = 5_000;
/// From then on no more operations are taken from it, so that it can say how far it came before its time is over.
pub const SCRIPT_ACCEPT_MILLIS_MAX: u64 = 3_000;
/// What the user-defined functions of one page of a query may take together.
pub const UDF_MILLIS_MAX: u64 = 5_000;
/// Memory and stack of one JavaScript runtime.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
pub const SCRIPT_STACK_BYTES_MAX: usize = 256 * 1024;
/// What a script gives back, and how much of its log is kept.
pub const SCRIPT_OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const SCRIPT_LOG_BYTES_MAX: usize = 4 * 1024;
/// Operations of one script, and the text of what it writes; it is told to come back before it reaches them.
pub const SCRIPT_OPERATIONS_MAX: u64 = 10_000;
pub const SCRIPT_WRITTEN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Items of a page of a query in a script, when it names no number.
pub const SCRIPT_PAGE_ITEMS_DEFAULT: usize = 100;
/// Time after the end of a script's own in which its process may end it in good order, before it is killed.
pub const SCRIPT_KILL_GRACE_MILLIS: u64 = 250;
/// Interval at which the server looks at the clock while it waits for a script's process.
pub const SCRIPT_WAIT_SLICE_MILLIS: u64 = 50;
/// A script that runs longer than this is a long one: it gives its place to the next and yields the processor.
pub const SCRIPT_SHORT_MILLIS_MAX: u64 = 500;
/// Processes for scripts that wait for work at least, once there were so many, and at most.
pub const SCRIPT_WORKERS_WARM: usize = 2;
pub const SCRIPT_WORKERS_IDLE_MAX: usize = 8;
/// The longest message that a script's process may send.
pub const SCRIPT_FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Memory of a script's process in all: the JavaScript heap, and copies of what goes in and out.
pub const SCRIPT_PROCESS_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// What is kept of the message, and of the stack trace, of an error that a script throws.
pub const SCRIPT_ERROR_BYTES_MAX: usize = 16 * 1024;
