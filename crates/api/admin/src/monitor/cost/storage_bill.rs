//! What tables and queues cost: transactions by their kind, and the bytes that were held, for the part of the month that was
//! measured. Pure arithmetic.

use super::bill::extrapolation;
use super::prices::{Prices, StoragePrices};
use orrery_catalog::storage::ServiceKind;
use orrery_catalog::storage::metering::{OperationClass, StorageHour, StorageUse, Transactions};
use orrery_protocol::cost::{StorageBill, StorageCosts, StorageLine};
use std::collections::BTreeMap;

/// `exists` tells resources that are still there from those that were deleted.
pub fn storage_bill(
    prices: &Prices,
    hours: u32,
    used: &[StorageHour],
    hours_measured: u32,
    exists: impl Fn(ServiceKind, u32) -> bool,
) -> StorageBill {
    let mut resources: BTreeMap<(ServiceKind, u32), Vec<&StorageUse>> = BTreeMap::new();
    for (_, service, number, used) in used {
        resources.entry((*service, *number)).or_default().push(used);
    }
    let mut bill = StorageBill::default();
    for ((service, number), used) in resources {
        let Some(prices) = prices.of_service(service) else { continue };
        let line = line(prices, hours, service, &used);
        if exists(service, number) {
            bill.total = bill.total.plus(&line.costs);
            bill.lines.push(line);
        } else {
            bill.dropped.push(line);
        }
    }
    bill.projected = bill.total.times(extrapolation(hours, hours_measured));
    bill
}

fn line(prices: &StoragePrices, hours: u32, service: ServiceKind, used: &[&StorageUse]) -> StorageLine {
    let mut transactions = Transactions::default();
    used.iter().for_each(|hour| transactions.merge(&hour.transactions));
    let price = |class| transactions.get(class) as f64 / 10_000.0 * prices.per_10000(class);
    let bytes: f64 = used.iter().map(|hour| hour.bytes as f64).sum();
    // A month's price, for the hours that were measured.
    let gigabyte_months = bytes / 1e9 / f64::from(hours.max(1));
    StorageLine {
        service: service.name().to_owned(),
        account: used.first().map(|hour| hour.account.clone()).unwrap_or_default(),
        name: used.first().map(|hour| hour.name.clone()).unwrap_or_default(),
        transactions: transactions.total(),
        reads: transactions.get(OperationClass::Read),
        writes: transactions.get(OperationClass::Write),
        queries: transactions.get(OperationClass::Query),
        deletes: transactions.get(OperationClass::Delete),
        gigabytes: bytes / 1e9 / used.len().max(1) as f64,
        costs: StorageCosts {
            transactions: OperationClass::ALL.into_iter().map(price).sum(),
            capacity: gigabyte_months * prices.capacity_per_gb_month,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u32 = 7;
    const QUEUE: u32 = 8;

    /// The same in each of so many hours.
    fn used(number: u32, hours: u32, reads: u64, writes: u64, gigabytes: f64) -> Vec<StorageHour> {
        let mut transactions = Transactions::default();
        transactions.add(OperationClass::Read, reads);
        transactions.add(OperationClass::Write, writes);
        let service = if number == TABLE { ServiceKind::Table } else { ServiceKind::Queue };
        let used = StorageUse {
            account: "devstoreaccount1".into(),
            name: format!("n{number}"),
            transactions,
            bytes: (gigabytes * 1e9) as u64,
        };
        (0..hours).map(|hour| (hour, service, number, used.clone())).collect()
    }

    fn billed(used: &[StorageHour], hours_measured: u32, dropped: u32) -> StorageBill {
        storage_bill(&Prices::load().expect("prices"), 720, used, hours_measured, |_, number| {
            number != dropped
        })
    }

    fn check(costs: StorageCosts, transactions: f64, capacity: f64) {
        let is_near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(is_near(costs.transactions, transactions) && is_near(costs.capacity, capacity), "{costs:?}");
    }

    /// S1-98: $0.045 for a GB and a month.
    #[test]
    fn a_month_of_a_table_costs_its_bytes_and_its_transactions() {
        let bill = billed(&used(TABLE, 720, 900, 100, 10.0), 720, 0);
        assert_eq!(bill.lines.len(), 1);
        let line = &bill.lines[0];
        assert_eq!((line.service.as_str(), line.name.as_str(), line.transactions), ("table", "n7", 720_000));
        assert_eq!((line.reads, line.writes, line.queries, line.deletes), (648_000, 72_000, 0, 0));
        assert!((line.gigabytes - 10.0).abs() < 1e-9, "the mean of the hours");
        check(line.costs, 72.0 * 0.00036, 0.45);
        check(bill.projected, 72.0 * 0.00036, 0.45);
    }

    #[test]
    fn a_part_of_a_month_is_paid_for_that_part_and_extrapolated() {
        let bill = billed(&used(QUEUE, 72, 1_000, 0, 1.0), 72, 0);
        check(bill.total, 7.2 * 0.004, 0.0045);
        check(bill.projected, 72.0 * 0.004, 0.045);
        assert!((bill.total.sum() - 0.0333).abs() < 1e-9);
    }

    #[test]
    fn what_was_deleted_is_in_no_sum() {
        let both = [used(TABLE, 1, 10_000, 0, 0.0), used(QUEUE, 1, 10_000, 0, 0.0)].concat();
        let bill = billed(&both, 1, QUEUE);
        assert_eq!((bill.lines.len(), bill.dropped.len()), (1, 1));
        check(bill.total, 0.00036, 0.0);
        check(bill.dropped[0].costs, 0.004, 0.0);
    }
}
