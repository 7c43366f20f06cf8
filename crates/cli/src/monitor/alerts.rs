//! `orrery alerts`: what is in trouble, since when, and what was. Exit code 1 while something is.

use super::{TellFlags, fetch};
use crate::client::block_on;
use crate::terminal::{BAD, GOOD, Screen, Table, print, print_json};
use clap::Args;
use orrery_core::Timestamp;
use serde_json::Value;
use std::process::ExitCode;

#[derive(Args)]
pub struct AlertsFlags {
    #[command(flatten)]
    services: TellFlags,
}

/// Runs the verb; the error is a sentence for a person.
pub fn alerts(flags: &AlertsFlags) -> Result<ExitCode, String> {
    let said: Value = block_on(fetch(&flags.services, "/v1/alerts"))??;
    let alerts = said["alerts"].as_array().ok_or("the server's answer is not understood")?;
    if flags.services.json {
        print_json(&said)?;
    } else {
        print(&drawn(alerts, &Screen::of_stdout()))?;
    }
    let is_firing = alerts.iter().any(|alert| alert["state"] == "firing");
    Ok(if is_firing { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn drawn(alerts: &[Value], screen: &Screen) -> String {
    if alerts.is_empty() {
        return format!("{}\n", screen.paint(GOOD, "Nothing is in trouble."));
    }
    let text = |alert: &Value, name: &str| alert[name].as_str().unwrap_or_default().to_owned();
    let rows: Vec<Vec<String>> = alerts
        .iter()
        .map(|alert| {
            let whom = ["database", "container", "operation", "partition", "account", "table", "queue"];
            let whom: Vec<String> =
                whom.iter().map(|name| text(alert, name)).filter(|it| !it.is_empty()).collect();
            let value = match (alert["value"].as_f64(), alert["above"].as_f64()) {
                (Some(value), Some(above)) => format!("{value} > {above} {}", text(alert, "unit")),
                _ => String::new(),
            };
            let since = Timestamp::from_millis(alert["since_ms"].as_u64().unwrap_or(0)).to_http();
            vec![
                text(alert, "state"),
                text(alert, "rule"),
                whom.join(" / "),
                value,
                since,
                text(alert, "advice"),
            ]
        })
        .collect();
    let firing = alerts.iter().filter(|alert| alert["state"] == "firing").count();
    let table = Table::new(&["STATE", "RULE", "WHERE", "VALUE", "SINCE", "WHAT TO DO"]).whole(0).rows(rows);
    let count = match firing {
        0 => String::new(),
        firing => format!("{}\n", screen.paint(BAD, &format!("{firing} firing"))),
    };
    table.draw(screen) + &count
}
