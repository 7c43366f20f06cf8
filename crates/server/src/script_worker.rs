//! `orrery script-worker`: the process in which the server runs scripts; not for users.

use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

/// Runs scripts for the server at the other end of standard input.
pub fn work() -> Result<(), String> {
    outlive_signals().map_err(|error| format!("signals cannot be caught: {error}"))?;
    orrery_script::serve_worker()
        .map_err(|error| format!("the server that started this cannot be served: {error}"))
}

/// A signal to all processes of a service must not end a script that the server waits for: the server ends its workers.
/// An installed handler outlives its runtime.
fn outlive_signals() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        drop(signal(kind)?);
    }
    Ok(())
}

/// The program from which a worker is started: this one. On Linux the running image, even if its file was replaced.
pub fn program() -> Result<PathBuf, String> {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() {
        return Ok(own);
    }
    std::env::current_exe().map_err(|error| format!("this program's own file cannot be found: {error}"))
}
