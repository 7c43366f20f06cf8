//! Structured logs on standard error, as text or JSON lines.

use crate::config::{Config, LogFormat};
use tracing_subscriber::EnvFilter;

pub fn start(config: &Config) -> Result<(), String> {
    let filter = EnvFilter::try_new(&config.log)
        .map_err(|error| format!("--log '{}' is not understood: {error}", config.log))?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let started = match config.log_format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| format!("logging could not be started: {error}"))
}
