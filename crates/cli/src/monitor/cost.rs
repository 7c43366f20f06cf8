//! `orrery cost`: what a month's measured use would cost; of containers, in each mode.

use super::{TellFlags, cost_storage, fetch};
use crate::client::block_on;
use crate::terminal::{NOTICE, Screen, Table, bytes, print, print_json};
use clap::Args;
use orrery_core::limits;
use orrery_protocol::cost::{Bill, Costs, Line};

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
    match flags.services.json {
        true => print_json(&bill),
        false => print(&drawn(&bill, &Screen::of_stdout())),
    }
}

fn drawn(bill: &Bill, screen: &Screen) -> String {
    let Bill { month, hours, hours_measured, .. } = bill;
    let mut text = format!("{month}: {hours_measured} of {hours} hours were measured.\n\n");
    let mut rows: Vec<Vec<String>> = bill.lines.iter().map(row).collect();
    rows.push(sum("total", &bill.total));
    let is_extrapolated = bill.is_extrapolated && *hours_measured > 0;
    if is_extrapolated {
        rows.push(sum(&format!("extrapolated to {hours} hours"), &bill.projected));
    }
    text += &table(rows).draw(screen);
    text += "\n";
    if is_extrapolated {
        text += &screen.paint(NOTICE, &extrapolation(*hours_measured, *hours));
        text += "\n";
    }
    let all = || bill.lines.iter().chain(&bill.dropped);
    if all().any(|line| line.costs.serverless.is_none()) {
        text += &format!(
            "Serverless is \"-\" where a second took more than its {} RU/s.\n",
            limits::SERVERLESS_UNITS_PER_SECOND_MAX
        );
    }
    text += "Storage is paid in every mode, on top.\n";
    if !bill.dropped.is_empty() {
        let dropped = table(bill.dropped.iter().map(row).collect());
        text += &format!("\nDropped since, and in no sum above:\n\n{}", dropped.draw(screen));
    }
    text += &cost_storage::drawn(bill, screen);
    text + &comparison(bill, screen)
}

fn extrapolation(measured: u32, hours: u32) -> String {
    let were = if measured == 1 { "1 hour was" } else { &format!("{measured} hours were") };
    format!("Only {were} measured: the last row assumes that all {hours} are like that.")
}

/// The estimate that the design behind an example blueprint makes, for orientation.
fn comparison(bill: &Bill, screen: &Screen) -> String {
    let rows = bill.scenarios.iter().map(|it| {
        let workflows = it.workflows_a_day.to_string();
        vec![workflows, it.serverless.clone(), it.provisioned_400.clone(), it.provisioned_4000.clone()]
    });
    let heading = ["WORKFLOWS A DAY", "SERVERLESS", "400 RU/S", "4,000 RU/S"];
    let table = Table::new(&heading).numbers(0..1).rows(rows);
    format!("\nFor comparison, a month of the example blueprint agent-studio:\n\n{}", table.draw(screen))
}

fn table(rows: Vec<Vec<String>>) -> Table {
    let heading =
        ["", "RU", "PEAK RU/S", "STORED", "MODE", "SERVERLESS", "MANUAL", "AUTOSCALE", "STORAGE", "CHEAPEST"];
    Table::new(&heading).whole(0).numbers(1..9).rows(rows)
}

fn row(line: &Line) -> Vec<String> {
    let name = match &line.container {
        Some(container) => format!("{} / {container}", line.database),
        None => format!("{} (shared)", line.database),
    };
    vec![
        name,
        format!("{:.2}", line.request_units),
        format!("{:.1}", line.peak_units_per_second),
        bytes(Some((line.gigabytes * 1e9) as u64)),
        line.mode.name().to_owned(),
        serverless(&line.costs),
        format!("{} at {}", dollars(line.costs.manual), line.manual_units),
        format!("{} at {}", dollars(line.costs.autoscale), line.autoscale_units_max),
        dollars(line.costs.storage),
        line.cheapest.name().to_owned(),
    ]
}

fn sum(name: &str, costs: &Costs) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend(["", "", "", ""].map(str::to_owned));
    cells.push(serverless(costs));
    cells.extend([costs.manual, costs.autoscale, costs.storage].map(dollars));
    cells.push(costs.cheapest().name().to_owned());
    cells
}

fn serverless(costs: &Costs) -> String {
    costs.serverless.map_or_else(|| "-".to_owned(), dollars)
}

pub fn dollars(value: f64) -> String {
    format!("${value:.4}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_protocol::cost::Mode;

    fn bill(hours_measured: u32) -> Bill {
        let line = |container: &str, serverless| Line {
            database: "a-database-of-some-length".into(),
            container: Some(container.into()),
            costs: Costs { serverless, ..Costs::default() },
            cheapest: Mode::Manual,
            ..Line::default()
        };
        Bill {
            month: "2026-11".into(),
            hours: 720,
            hours_measured,
            is_extrapolated: hours_measured < 720,
            lines: vec![line("a-container-of-some-length", None)],
            dropped: vec![line("gone", Some(1.0))],
            ..Bill::default()
        }
    }

    #[test]
    fn an_extrapolation_is_called_one_and_a_whole_month_is_none() {
        let text = drawn(&bill(1), &Screen::PIPE);
        assert!(text.contains("\nextrapolated to 720 hours"), "{text}");
        assert!(text.contains("Only 1 hour was measured: the last row assumes that all 720 are"), "{text}");
        let whole = drawn(&bill(720), &Screen::PIPE);
        assert!(!whole.contains("extrapolated") && !whole.contains("Only"), "{whole}");
        assert!(!drawn(&bill(0), &Screen::PIPE).contains("extrapolated"), "nothing was measured");
    }

    #[test]
    fn names_are_whole_and_what_was_dropped_stands_apart() {
        let text = drawn(&bill(1), &Screen { width: Some(60), has_color: false });
        assert!(text.contains("a-database-of-some-length / a-container-of-some-length"), "{text}");
        let (above, below) = text.split_once("Dropped since, and in no sum above:").expect(&text);
        assert!(!above.contains("gone") && below.contains("/ gone"), "{text}");
    }

    #[test]
    fn serverless_is_not_offered_where_it_would_have_refused() {
        let text = drawn(&bill(1), &Screen::PIPE);
        let line = text.lines().find(|line| line.contains("a-container")).expect(&text);
        assert!(line.split_whitespace().any(|word| word == "-") && line.ends_with("manual"), "{line}");
        assert!(text.contains("more than its 5000 RU/s"), "{text}");
    }
}
