//! `orrery cost`: what a month's measured use would cost in each mode, beside the table of seed 001.

use super::table::{bytes, clipped, table};
use super::{TellFlags, fetch, print, print_json};
use crate::client::block_on;
use crate::monitor::cost::bill::{Bill, Costs, Line};
use clap::Args;

#[derive(Args)]
pub struct CostFlags {
    #[command(flatten)]
    services: TellFlags,
    /// The month, such as 2026-11 [default: this one]
    #[arg(long, value_name = "YYYY-MM")]
    month: Option<String>,
}

/// Runs the verb; the error is a sentence for a person.
pub fn cost(flags: &CostFlags) -> Result<(), String> {
    let is_plain = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let path = match &flags.month {
        None => "/v1/cost".to_owned(),
        Some(month) if is_plain(month) => format!("/v1/cost?month={month}"),
        Some(month) => return Err(format!("the month '{month}' is not like 2026-11")),
    };
    let bill: Bill = block_on(fetch(&flags.services, &path))??;
    if flags.services.json {
        return print_json(&bill);
    }
    print(&drawn(&bill));
    Ok(())
}

fn drawn(bill: &Bill) -> String {
    let mut rows: Vec<Vec<String>> = bill.lines.iter().map(row).collect();
    rows.push(sum("all of it", &bill.total));
    rows.push(sum("a whole month of it", &bill.projected));
    let heading =
        ["", "RU", "PEAK RU/S", "STORED", "MODE", "SERVERLESS", "MANUAL", "AUTOSCALE", "STORAGE", "CHEAPEST"];
    let measured = table(&heading, &rows, 1, 9);
    let scenarios: Vec<Vec<String>> = bill
        .scenarios
        .iter()
        .map(|it| {
            let workflows = it.workflows_a_day.to_string();
            vec![workflows, it.serverless.clone(), it.provisioned_400.clone(), it.provisioned_4000.clone()]
        })
        .collect();
    let seed = table(&["WORKFLOWS A DAY", "SERVERLESS", "400 RU/S", "4,000 RU/S"], &scenarios, 0, 1);
    format!(
        "{}: measured in {} of {} hours\n\n{measured}\nStorage is paid in each mode besides. As seed 001 reckons, by the month:\n\n{seed}",
        bill.month, bill.hours_measured, bill.hours
    )
}

fn row(line: &Line) -> Vec<String> {
    let name = match &line.container {
        Some(container) => format!("{} / {container}", line.database),
        None => format!("{} (shared)", line.database),
    };
    let dollars = |value: f64| format!("${value:.4}");
    vec![
        clipped(&name, 40),
        format!("{:.2}", line.request_units),
        format!("{:.1}", line.peak_units_per_second),
        bytes(Some((line.gigabytes * 1e9) as u64)),
        line.mode.name().to_owned(),
        dollars(line.costs.serverless),
        format!("{} at {}", dollars(line.costs.manual), line.manual_units),
        format!("{} at {}", dollars(line.costs.autoscale), line.autoscale_units_max),
        dollars(line.costs.storage),
        line.cheapest.name().to_owned(),
    ]
}

fn sum(name: &str, costs: &Costs) -> Vec<String> {
    let dollars = |value: f64| format!("${value:.4}");
    let mut cells = vec![name.to_owned()];
    cells.extend(["", "", "", ""].map(str::to_owned));
    cells.extend([costs.serverless, costs.manual, costs.autoscale, costs.storage].map(dollars));
    cells.push(costs.cheapest().name().to_owned());
    cells
}
