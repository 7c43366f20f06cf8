//! What can be wrong with a script.

/// Why a script came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Its text is not a function.
    #[error("Encountered exception while compiling Javascript. Exception = {message}{}", place(stack))]
    Compile { message: String, stack: String },
    /// It threw, and nobody caught it; `number` is the one that the error carries.
    #[error(
        "Encountered exception while executing function. Exception = {message}{}",
        traced(message, stack)
    )]
    Thrown { message: String, stack: String, number: Option<u32> },
    #[error(
        "The requested operation exceeded maximum alloted time: the script ran longer than {millis_max} ms."
    )]
    TooLong { millis_max: u64 },
    #[error("The script used more memory than {mb} MB; keep less at once.", mb = bytes_max / 1024 / 1024)]
    OutOfMemory { bytes_max: usize },
    #[error("The script's response is {bytes} bytes; the largest is {bytes_max} bytes.")]
    OutputTooLarge { bytes: usize, bytes_max: usize },
    /// The runtime itself failed.
    #[error("The script could not be run: {0}.")]
    Broken(String),
}

fn place(stack: &str) -> String {
    if stack.is_empty() { String::new() } else { format!("\r\n{stack}") }
}

fn traced(message: &str, stack: &str) -> String {
    if stack.is_empty() { String::new() } else { format!("\r\nStack trace: {message}\n{stack}") }
}
