//! The limits of the queue protocol.

/// The body of a message: its text is at most 64 KiB, and each character of it may be written as a reference.
pub const MESSAGE_BODY_BYTES_MAX: usize = 512 * 1024;
