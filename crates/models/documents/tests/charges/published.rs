//! Points from the service's documentation.

use crate::documents::{bytes, create, delete, document, read, replace, typical, with};
use crate::{check, indexed_page_of, page_of, ru, tell};
use orrery_documents::charge::{Charge, ReadWork};
use serde_json::json;

const KB: usize = 1024;

#[test]
fn point_reads() {
    check("point read, 1 KB", Charge::point_read(KB), 1.0, 0.0);
    check("point read, 4 KB", Charge::point_read(4 * KB), 1.3, 5.0);
    check("point read, 64 KB", Charge::point_read(64 * KB), 10.0, 50.0);
    check("point read, 100 KB", Charge::point_read(100 * KB), 10.0, 0.0);
    check("point read, a small user", read(&document("user")), 1.0, 0.0);
}

#[test]
fn writes_without_an_index() {
    check("create, 1 KB, nothing indexed", Charge::create(KB, 0), 5.0, 0.0);
    check("create, 4 KB, nothing indexed", Charge::create(4 * KB, 0), 7.0, 10.0);
    check("create, 64 KB, nothing indexed", Charge::create(64 * KB, 0), 48.0, 50.0);
    check("create, 100 KB, nothing indexed", Charge::create(100 * KB, 0), 50.0, 0.0);
}

#[test]
fn writes_with_the_default_policy() {
    let item = typical();
    assert_eq!(bytes(&item), KB);
    let charge = create(&item);
    assert!((5.0..=7.0).contains(&ru(charge)), "{charge}");
    check("create, 1 KB, 12 values", charge, 6.0, 17.0);
    check("create, a small user", create(&document("user")), 5.71, 10.0);
    check("create, a like", create(&document("like")), 7.05, 25.0);
    check("create, a food of 25 values", create(&document("food")), 15.0, 50.0);
    check("delete, 1 KB, 12 values", delete(&item), 5.5, 20.0);
}

#[test]
fn a_replace_costs_a_write_and_a_read_and_what_changed() {
    let item = typical();
    let next = with(&item, &json!({"status": "delivered", "updatedAt": "2025-11-22T09:00:00.000Z"}));
    let charge = replace(&item, &next);
    tell("replace, 1 KB, 2 of 12 values", charge);
    assert!(ru(charge) < 2.0 * ru(create(&item)), "the service's documentation says twice");
}

#[test]
fn queries_of_one_item() {
    check("query by id, a food", Charge::query(&page_of(1, bytes(&document("food")))), 2.5, 10.0);
    check("query, equality, one item of 1 KB", Charge::query(&indexed_page_of(1, KB)), 2.5, 10.0);
    let sample = ReadWork { bytes_read: 9_963, bytes_out: 10_012, ..indexed_page_of(1, 0) };
    check("query, one item of 9,963 bytes", Charge::query(&sample), 3.19, 10.0);
}

#[test]
fn a_scan_that_finds_little() {
    let scan = ReadWork {
        documents_read: 60_951,
        bytes_read: 399_998_938,
        rows: 7,
        bytes_out: 510,
        ..ReadWork::default()
    };
    check("query, scan of 60,951 items, 400 MB", Charge::query(&scan), 4059.95, 1.0);
}

#[test]
fn pages_of_a_blog() {
    check("query, a user's posts, 27 of 1 KB", Charge::query(&page_of(27, KB)), 6.46, 50.0);
    check("query, newest 100 posts of 1 KB", Charge::query(&indexed_page_of(100, KB)), 16.97, 50.0);
}
