//! Charges against the numbers that they were calibrated by: what the service's documentation publishes, and what the
//! owners of the designs planned with. `docs/request-charges.md` shows the same examples, and has to show what comes out here.

mod changes;
mod documents;
mod published;
mod seeds;
mod terms;

use orrery_documents::charge::{Charge, ReadWork};

const PAGE: &str = include_str!("../../../../../docs/request-charges.md");

/// What `SELECT *` adds to an item's text: `_rid`, `_self`, `_etag`, `_attachments`, `_ts`.
const SYSTEM_BYTES: usize = 220;

/// An example comes out within so many percent of what is expected of it, and the page tells so.
fn check(name: &str, charge: Charge, expected: f64, percent: f64) {
    let off = 100.0 * (ru(charge) / expected - 1.0);
    assert!(off.abs() <= percent, "{name} costs {charge}, which is {off:+.0} % off {expected}");
    shown(&format!("| {name} | {charge} | {expected} |"));
}

/// An example that nobody has published a number for.
fn tell(name: &str, charge: Charge) {
    shown(&format!("| {name} | {charge} | – |"));
}

fn shown(line: &str) {
    let is_there = PAGE.lines().any(|shown| shown.starts_with(line));
    assert!(is_there, "docs/request-charges.md has no line that begins so:\n{line}");
}

fn ru(charge: Charge) -> f64 {
    charge.to_string().parse().expect("a charge is shown as a number")
}

/// A page of whole documents of one size, of which all that were read are given.
fn page_of(documents: u64, bytes: usize) -> ReadWork {
    let (bytes, given) = (bytes as u64, (bytes + SYSTEM_BYTES) as u64);
    ReadWork {
        documents_read: documents,
        bytes_read: documents * bytes,
        rows: documents,
        bytes_out: documents * given,
        ..ReadWork::default()
    }
}

/// The same, found by one lookup in an index.
fn indexed_page_of(documents: u64, bytes: usize) -> ReadWork {
    ReadWork { seeks: 1, entries_read: documents, ..page_of(documents, bytes) }
}
