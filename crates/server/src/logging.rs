//! Structured logs on standard error, as text or JSON lines.

use crate::config::{Config, LogFormat};
use orrery_api_common::REQUESTS;
use tracing_subscriber::EnvFilter;

const LEVEL_DEFAULT: &str = "info";

pub fn start(config: &Config) -> Result<(), String> {
    let filter = EnvFilter::try_new(directives(&config.log))
        .map_err(|error| format!("--log '{}' is not understood: {error}", config.log))?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let started = match config.log_format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| format!("logging could not be started: {error}"))
}

/// The request log is on if named, in addition to the default log.
fn directives(given: &str) -> String {
    let (requests, mut others): (Vec<&str>, Vec<&str>) = given
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .partition(|word| word.split('=').next() == Some(REQUESTS));
    if others.is_empty() {
        others.push(LEVEL_DEFAULT);
    }
    let level = match requests.last().and_then(|word| word.split_once('=')) {
        Some((_, level)) => level,
        None if requests.is_empty() => "off",
        None => LEVEL_DEFAULT,
    };
    format!("{},{REQUESTS}={level}", others.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_log_is_on_when_it_is_named() {
        let check = |given: &str, expected: &str| assert_eq!(directives(given), expected, "{given}");
        check("info", "info,requests=off");
        check("requests", "info,requests=info");
        check("requests,debug", "debug,requests=info");
        check("orrery_document_store=debug, requests", "orrery_document_store=debug,requests=info");
        check("warn,requests=off", "warn,requests=off");
        check("", "info,requests=off");
    }
}
