//! What measured use costs in each mode. Pure arithmetic.
//!
//! ```text
//! serverless   request units; not where a second took more than serverless allows
//! manual       in each hour what is provisioned; where nothing is, the month's busiest second, in steps of 100, 400 at least
//! autoscale    in each hour its busiest second, at least a tenth of the maximum and at most the maximum; where there is no
//!              maximum, the month's busiest second in steps of 1,000
//! storage      the mean of the hours, for the part of the month that was measured; the same in each mode
//! ```

use super::prices::Prices;
use orrery_core::limits::SERVERLESS_UNITS_PER_SECOND_MAX;
use orrery_documents::catalog::limits;
use orrery_documents::definition::Throughput;
use orrery_documents::metering::{Owner, Use};
use orrery_protocol::cost::{Bill, Costs, Line, Mode, StorageBill};
use std::collections::BTreeMap;

/// The bill of a month with that many hours, without its storage accounts; `exists` tells owners that are still there from those that were dropped.
pub fn bill(
    prices: &Prices,
    month: &str,
    hours: u32,
    used: &[(u32, Owner, Use)],
    hours_measured: u32,
    exists: impl Fn(Owner) -> bool,
) -> Bill {
    let mut owners: BTreeMap<Owner, Vec<&Use>> = BTreeMap::new();
    used.iter().for_each(|(_, owner, used)| owners.entry(*owner).or_default().push(used));
    let line_of = |(owner, used): (&Owner, &Vec<&Use>)| (*owner, line(prices, hours, used));
    let (lines, dropped): (Vec<_>, Vec<_>) =
        owners.iter().map(line_of).partition(|(owner, _)| exists(*owner));
    let without_owner = |lines: Vec<(Owner, Line)>| lines.into_iter().map(|(_, line)| line).collect();
    let (lines, dropped): (Vec<Line>, Vec<Line>) = (without_owner(lines), without_owner(dropped));
    let total = lines.iter().fold(Costs::default(), |sum, line| sum.plus(&line.costs));
    let whole = extrapolation(hours, hours_measured);
    Bill {
        month: month.to_owned(),
        hours,
        hours_measured,
        lines,
        total,
        projected: total.times(whole),
        is_extrapolated: hours_measured < hours,
        dropped,
        storage: StorageBill::default(),
        scenarios: prices.scenarios.clone(),
    }
}

/// By how much a whole month is more than what was measured of it.
pub fn extrapolation(hours: u32, hours_measured: u32) -> f64 {
    f64::from(hours) / f64::from(hours_measured.max(1))
}

fn line(prices: &Prices, hours: u32, used: &[&Use]) -> Line {
    let peak = used.iter().map(|hour| hour.peak_hundredths).max().unwrap_or(0) as f64 / 100.0;
    let hundredths: u64 = used.iter().map(|hour| hour.hundredths).fold(0, u64::saturating_add);
    let request_units = hundredths as f64 / 100.0;
    let manual_units = stepped(peak, limits::THROUGHPUT_MANUAL_STEP, limits::THROUGHPUT_MANUAL_MIN);
    let autoscale_max = stepped(peak, limits::THROUGHPUT_AUTOSCALE_STEP, limits::THROUGHPUT_AUTOSCALE_STEP);
    let (mut manual, mut autoscale, mut bytes) = (0.0, 0.0, 0.0);
    for hour in used {
        manual += match hour.throughput {
            Some(Throughput::Manual(units)) => units as f64,
            _ => manual_units as f64,
        };
        let max = match hour.throughput {
            Some(Throughput::Autoscale { max, .. }) => max as f64,
            _ => autoscale_max as f64,
        };
        autoscale += (hour.peak_hundredths as f64 / 100.0).clamp(max / 10.0, max);
        bytes += hour.bytes as f64;
    }
    // A month's price, for the hours that were measured.
    let gigabyte_months = bytes / 1e9 / f64::from(hours.max(1));
    let costs = Costs {
        serverless: (peak <= SERVERLESS_UNITS_PER_SECOND_MAX as f64)
            .then_some(request_units / 1e6 * prices.serverless_per_million_units),
        manual: manual / 100.0 * prices.manual_per_100_units_hour,
        autoscale: autoscale / 100.0 * prices.autoscale_per_100_units_hour,
        storage: gigabyte_months * prices.storage_per_gb_month,
    };
    let newest = used.last().and_then(|hour| hour.throughput);
    Line {
        database: used.first().map(|hour| hour.database.clone()).unwrap_or_default(),
        container: used.first().and_then(|hour| hour.container.clone()),
        requests: used.iter().map(|hour| hour.requests).fold(0, u64::saturating_add),
        request_units,
        peak_units_per_second: peak,
        gigabytes: bytes / 1e9 / used.len().max(1) as f64,
        mode: match newest {
            None => Mode::Serverless,
            Some(Throughput::Manual(_)) => Mode::Manual,
            Some(Throughput::Autoscale { .. }) => Mode::Autoscale,
        },
        manual_units: match newest {
            Some(Throughput::Manual(units)) => units,
            _ => manual_units,
        },
        autoscale_units_max: match newest {
            Some(Throughput::Autoscale { max, .. }) => max,
            _ => autoscale_max,
        },
        cheapest: costs.cheapest(),
        costs,
    }
}

fn stepped(units: f64, step: u64, min: u64) -> u64 {
    (units.ceil() as u64).max(min).next_multiple_of(step)
}

#[cfg(test)]
#[path = "bill_cases.rs"]
mod cases;
