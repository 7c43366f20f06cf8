//! Pages of the change feed.

use crate::tell;
use orrery_documents::charge::{Charge, ReadWork};

#[test]
fn pages_of_the_change_feed() {
    tell("change feed, nothing new", Charge::feed(&ReadWork::default()));
    let page = ReadWork {
        documents_read: 1000,
        bytes_read: 1000 * 1024,
        entries_read: 1000,
        rows: 1000,
        bytes_out: 1000 * 1024,
        ..ReadWork::default()
    };
    tell("change feed, a page of 1,000 items of 1 KB", Charge::feed(&page));
}
