//! Request charges: what an operation costs in request units (RU), from what it did.
//!
//! ```text
//! point read   1 for the first KB + 1/11 for each KB more
//! patch        its replace + a point read of what it replaces; a batch costs what its operations do
//! write        five point reads of its size + 0.10 an index entry; a replace also reads what it replaces
//! query page   2.30 + 0.02 a seek + 0.0005 an entry + 0.005 a document + 0.0096 a KB that is read
//!                   + 0.02 a row + 0.05 a KB that is given
//! ```
//!
//! Deterministic: only counts go in, no time and no load, so the same work costs the same. Sums are kept in millionths
//! and rounded once, to hundredths, which is what a client is told. `docs/request-charges.md` has the points that the
//! prices come from. What is left out: limits on how much may be spent; whoever throttles adds charges up.

use std::fmt;
use std::iter::Sum;

/// Hundredths of a request unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Charge(u64);

/// What a page of a query or of a feed took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadWork {
    pub documents_read: u64,
    /// The text of the documents that were read.
    pub bytes_read: u64,
    /// Entries of indexes that were looked at.
    pub entries_read: u64,
    /// Times that a place in an index was looked for.
    pub seeks: u64,
    pub rows: u64,
    /// The text of the rows.
    pub bytes_out: u64,
}

const MICROS_PER_HUNDREDTH: u64 = 10_000;
const KB: u64 = 1024;

// Prices in millionths of a request unit.
const READ: u64 = 1_000_000;
/// Published: 1 KB costs 1 RU and 100 KB cost 10, so 99 KB more cost 9 more.
const READ_KB_MORE: u64 = READ / 11;
/// Published: 5 RU and 50 RU for the same sizes.
const READS_PER_WRITE: u64 = 5;
const ENTRY_WRITTEN: u64 = 100_000;
const QUERY: u64 = 2_300_000;
const FEED: u64 = 1_000_000;
const SEEK: u64 = 20_000;
const ENTRY_READ: u64 = 500;
const DOCUMENT_READ: u64 = 5_000;
const KB_READ: u64 = 9_600;
const ROW: u64 = 20_000;
const KB_OUT: u64 = 50_000;
const METADATA: u64 = 2_000_000;
const REFUSED: u64 = 1_240_000;
const THROTTLED: u64 = 380_000;

impl Charge {
    pub fn point_read(bytes: usize) -> Self {
        Self::of(read(bytes))
    }

    /// A read of an item that the client has already.
    pub fn not_modified() -> Self {
        Self::of(READ)
    }

    /// `entries` are those that the item got in the indexes, each term counted once however many rows keep it.
    pub fn create(bytes: usize, entries: u64) -> Self {
        Self::of(write(bytes, entries))
    }

    /// `entries` are those that were put and those that were removed.
    pub fn replace(bytes: usize, replaced_bytes: usize, entries: u64) -> Self {
        Self::of(write(bytes, entries).saturating_add(read(replaced_bytes)))
    }

    /// A replace, and a point read of the item that the operations and the condition are applied to.
    pub fn patch(bytes: usize, replaced_bytes: usize, entries: u64) -> Self {
        let replace = write(bytes, entries).saturating_add(read(replaced_bytes));
        Self::of(replace.saturating_add(read(replaced_bytes)))
    }

    /// The order to remove a partition's items. Removing them is background work and costs nobody anything.
    pub fn purge() -> Self {
        Self::of(write(0, 0))
    }

    /// An operation of a batch that was not tried, or not kept, because another one failed.
    pub fn not_tried() -> Self {
        Self::of(0)
    }

    /// What goes is written once more, into the log, so its size counts as that of a create does.
    pub fn delete(bytes: usize, entries: u64) -> Self {
        Self::of(write(bytes, entries))
    }

    pub fn query(work: &ReadWork) -> Self {
        Self::of(QUERY.saturating_add(work.micros()))
    }

    /// A page of a query.
    pub fn page(page: &orrery_query::execute::Page) -> Self {
        Self::query(&ReadWork {
            documents_read: page.metrics.documents_read,
            bytes_read: page.metrics.bytes_read,
            entries_read: page.metrics.entries_read,
            seeks: page.metrics.seeks,
            rows: page.count as u64,
            bytes_out: page.rows.len() as u64,
        })
    }

    /// A page of items as they lie: nothing is compiled and no index is asked.
    pub fn feed(work: &ReadWork) -> Self {
        Self::of(FEED.saturating_add(work.micros()))
    }

    /// Databases, containers, offers, ranges, plans of queries.
    pub fn metadata() -> Self {
        Self::of(METADATA)
    }

    /// What a failed operation costs: it looked, but wrote nothing.
    pub fn refused() -> Self {
        Self::of(REFUSED)
    }

    /// What is told of a request that was turned away; nobody pays it.
    pub fn throttled() -> Self {
        Self::of(THROTTLED)
    }

    /// Hundredths of a request unit.
    pub fn hundredths(self) -> u64 {
        self.0
    }

    fn of(micros: u64) -> Self {
        Self(micros.saturating_add(MICROS_PER_HUNDREDTH / 2) / MICROS_PER_HUNDREDTH)
    }
}

impl ReadWork {
    fn micros(&self) -> u64 {
        let parts = [
            self.documents_read.saturating_mul(DOCUMENT_READ),
            kilobytes(self.bytes_read, KB_READ),
            self.entries_read.saturating_mul(ENTRY_READ),
            self.seeks.saturating_mul(SEEK),
            self.rows.saturating_mul(ROW),
            kilobytes(self.bytes_out, KB_OUT),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

fn read(bytes: usize) -> u64 {
    READ.saturating_add(kilobytes((bytes as u64).saturating_sub(KB), READ_KB_MORE))
}

fn write(bytes: usize, entries: u64) -> u64 {
    READS_PER_WRITE.saturating_mul(read(bytes)).saturating_add(entries.saturating_mul(ENTRY_WRITTEN))
}

/// The price of so many bytes at `price` a KB.
fn kilobytes(bytes: u64, price: u64) -> u64 {
    bytes.saturating_mul(price) / KB
}

/// Several operations in one request, or the pages of one query.
impl Sum for Charge {
    fn sum<I: Iterator<Item = Self>>(charges: I) -> Self {
        Self(charges.fold(0, |sum, charge| sum.saturating_add(charge.0)))
    }
}

impl fmt::Display for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, hundredths) = (self.0 / 100, self.0 % 100);
        if hundredths == 0 { write!(f, "{whole}") } else { write!(f, "{whole}.{hundredths:02}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(charge: Charge, shown: &str) {
        assert_eq!(charge.to_string(), shown);
    }

    #[test]
    fn reads_and_writes_without_an_index_meet_the_published_points() {
        check(Charge::point_read(1024), "1");
        check(Charge::point_read(100 * 1024), "10");
        check(Charge::create(1024, 0), "5");
        check(Charge::create(100 * 1024, 0), "50");
    }

    #[test]
    fn less_than_a_kilobyte_costs_a_kilobyte() {
        check(Charge::point_read(0), "1");
        check(Charge::create(300, 0), "5");
    }

    #[test]
    fn a_size_between_costs_its_share() {
        check(Charge::point_read(4 * 1024), "1.27");
        check(Charge::create(12 * 1024, 0), "10");
        check(Charge::point_read(2 * 1024 * 1024), "187.09");
    }

    #[test]
    fn a_write_pays_for_each_index_entry() {
        check(Charge::create(1024, 13), "6.30");
        check(Charge::delete(1024, 13), "6.30");
    }

    #[test]
    fn a_replace_also_reads_what_it_replaces() {
        check(Charge::replace(1024, 1024, 4), "6.40");
        check(Charge::replace(1024, 12 * 1024, 4), "7.40");
    }

    #[test]
    fn a_patch_is_a_replace_and_a_read() {
        check(Charge::patch(1024, 1024, 4), "7.40");
        check(Charge::patch(1024, 12 * 1024, 4), "9.40");
    }

    #[test]
    fn an_order_to_remove_a_partition_costs_a_write() {
        check(Charge::purge(), "5");
        check(Charge::not_tried(), "0");
    }

    #[test]
    fn each_part_of_a_page_has_its_price() {
        let of = |work: ReadWork| Charge::query(&work);
        let none = ReadWork::default();
        check(of(none), "2.30");
        check(of(ReadWork { seeks: 5, ..none }), "2.40");
        check(of(ReadWork { entries_read: 200, ..none }), "2.40");
        check(of(ReadWork { documents_read: 20, ..none }), "2.40");
        check(of(ReadWork { bytes_read: 100 * 1024, ..none }), "3.26");
        check(of(ReadWork { rows: 5, ..none }), "2.40");
        check(of(ReadWork { bytes_out: 2 * 1024, ..none }), "2.40");
        check(Charge::feed(&none), "1");
    }

    #[test]
    fn what_does_no_work_on_items_costs_the_same_always() {
        check(Charge::not_modified(), "1");
        check(Charge::metadata(), "2");
        check(Charge::refused(), "1.24");
        check(Charge::throttled(), "0.38");
    }

    #[test]
    fn charges_add_up() {
        check([Charge::point_read(0), Charge::refused()].into_iter().sum(), "2.24");
        check([Charge(u64::MAX), Charge(1)].into_iter().sum(), &Charge(u64::MAX).to_string());
    }

    prop_compose! {
        fn any_work()(parts in any::<[u64; 6]>()) -> ReadWork {
            let [documents_read, bytes_read, entries_read, seeks, rows, bytes_out] = parts;
            ReadWork { documents_read, bytes_read, entries_read, seeks, rows, bytes_out }
        }
    }

    /// A thousand more of each part, one part at a time.
    fn enlarged(work: ReadWork) -> [ReadWork; 6] {
        let mut larger = [work; 6];
        let [documents, bytes, entries, seeks, rows, out] = &mut larger;
        documents.documents_read = work.documents_read.saturating_add(1000);
        bytes.bytes_read = work.bytes_read.saturating_add(1000 * KB);
        entries.entries_read = work.entries_read.saturating_add(1000);
        seeks.seeks = work.seeks.saturating_add(1000);
        rows.rows = work.rows.saturating_add(1000);
        out.bytes_out = work.bytes_out.saturating_add(1000 * KB);
        larger
    }

    /// As an ordinary page has: far from where numbers end.
    fn ordinary(work: ReadWork) -> ReadWork {
        let small = |count: u64| count >> 40;
        ReadWork {
            documents_read: small(work.documents_read),
            bytes_read: small(work.bytes_read),
            entries_read: small(work.entries_read),
            seeks: small(work.seeks),
            rows: small(work.rows),
            bytes_out: small(work.bytes_out),
        }
    }

    proptest! {
        #[test]
        fn more_work_never_costs_less(work in any_work()) {
            for more in enlarged(work) {
                prop_assert!(Charge::query(&more) >= Charge::query(&work));
                prop_assert!(Charge::feed(&more) >= Charge::feed(&work));
            }
        }

        #[test]
        fn more_of_any_part_costs_more(work in any_work().prop_map(ordinary)) {
            for more in enlarged(work) {
                prop_assert!(Charge::query(&more) > Charge::query(&work), "{more:?}");
            }
        }

        #[test]
        fn a_larger_item_or_more_entries_cost_more(
            bytes in 0usize..2 << 20, more_bytes in 1024usize..4096, entries in 0u64..1000,
        ) {
            prop_assert!(Charge::point_read(bytes + more_bytes) >= Charge::point_read(bytes));
            prop_assert!(Charge::create(bytes, entries + 1) > Charge::create(bytes, entries));
            prop_assert!(Charge::replace(bytes, bytes, entries) > Charge::create(bytes, entries));
            let larger = 1024 + bytes + more_bytes;
            prop_assert!(Charge::create(larger, entries) > Charge::create(bytes, entries));
        }

        #[test]
        fn what_is_shown_is_a_number_of_hundredths(hundredths in 0u64..1 << 40) {
            let shown: f64 = Charge(hundredths).to_string().parse().unwrap();
            prop_assert_eq!((shown * 100.0).round() as u64, hundredths);
        }
    }
}
