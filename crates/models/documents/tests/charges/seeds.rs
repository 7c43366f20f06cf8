//! What the seeds' owners planned with: each operation within 50 percent of its number, under the default policy.

use crate::documents::{bytes, create, create_under, document, read, replace, with, workflow};
use crate::terms::rules;
use crate::{SYSTEM_BYTES, check, indexed_page_of, page_of, ru, tell};
use orrery_documents::charge::{Charge, ReadWork};
use orrery_documents::index::IndexRules;
use serde_json::{Value, json};

const WITHIN: f64 = 50.0;

fn sum(charges: impl IntoIterator<Item = Charge>) -> Charge {
    charges.into_iter().sum()
}

/// A page of 20 notifications, newest first, of a user whose partition is read through for it.
fn page_among(notifications: u64) -> ReadWork {
    let size = bytes(&document("notification"));
    ReadWork {
        documents_read: notifications,
        bytes_read: notifications * size as u64,
        rows: 20,
        bytes_out: 20 * (size + SYSTEM_BYTES) as u64,
        ..ReadWork::default()
    }
}

/// The devices of a user, read for the cap of three.
fn devices_query(devices: u64) -> Charge {
    Charge::query(&page_of(devices, bytes(&document("device"))))
}

#[test]
fn s2_56_enqueue() {
    check("enqueue an event", create(&document("event")), 5.0, WITHIN);
}

#[test]
fn s2_57_process() {
    let (event, preferences) = (document("event"), document("preferences"));
    let done = with(&event, &json!({"status": "COMPLETED", "processedAt": "2025-11-20T18:04:06.456Z"}));
    let process = [
        read(&event),
        create(&document("notification")),
        replace(&event, &done),
        Charge::query(&page_of(1, bytes(&preferences))),
    ];
    check("process an event", sum(process), 15.0, WITHIN);
}

#[test]
fn s2_58_page() {
    let size = bytes(&document("notification"));
    check("page of 20, by an index", Charge::query(&indexed_page_of(20, size)), 3.0, WITHIN);
    check("page of 20, user with 100", Charge::query(&page_among(100)), 3.0, WITHIN);
}

#[test]
fn s2_59_mark() {
    let notification = document("notification");
    let at = "2025-11-21T09:30:00.000Z";
    let read = with(&notification, &json!({"read": true, "readAt": at}));
    let dismissed = with(&read, &json!({"dismissed": true, "dismissedAt": at}));
    check("mark as read", replace(&notification, &read), 5.0, WITHIN);
    check("dismiss", replace(&read, &dismissed), 5.0, WITHIN);
}

#[test]
fn s2_60_preferences() {
    let old = document("preferences");
    let categories = json!({"social": true, "news": false, "marketing": false});
    let quiet: Vec<bool> = (0..24).map(|hour| hour < 8).collect();
    let new = json!({"categories": categories, "quietHours": quiet, "updatedAt": "2025-11-21T09:30:00.000Z"});
    check("update preferences", replace(&old, &with(&old, &new)), 5.0, WITHIN);
}

#[test]
fn s2_61_register() {
    let device = document("device");
    let revoked = with(&device, &json!({"revokedAt": "2025-11-21T09:30:00.000Z"}));
    check("register a second device", sum([devices_query(1), create(&device)]), 10.0, WITHIN);
    let evicting = [devices_query(3), replace(&device, &revoked), create(&device)];
    check("register a fourth device", sum(evicting), 10.0, WITHIN);
}

/// The seed's policy as it is provisioned: it includes what it names, and an array is `[]`.
fn seed_policy() -> IndexRules {
    let included = ["/status/?", "/createdAt/?", "/createdBy/?", "/pattern/?"];
    policy(&included, &["/*", "/context/*", "/tasks/[]/result/*"])
}

fn policy(included: &[&str], excluded: &[&str]) -> IndexRules {
    let listed = |paths: &[&str]| paths.iter().map(|path| json!({"path": path})).collect::<Vec<_>>();
    rules(&json!({"includedPaths": listed(included), "excludedPaths": listed(excluded)}))
}

/// What percent of a create a policy saves.
fn saving(rules: &IndexRules, document: &Value) -> f64 {
    100.0 * (1.0 - ru(create_under(rules, document)) / ru(create(document)))
}

#[test]
fn s1_44_the_policy_saves_a_third_of_a_write() {
    let workflow = workflow();
    tell("workflow, everything indexed", create(&workflow));
    tell("workflow, the design's policy", create_under(&seed_policy(), &workflow));
    let saved = saving(&seed_policy(), &workflow);
    assert!((30.0..=40.0).contains(&saved), "{saved} %");
}

#[test]
fn excluding_a_path_saves_its_values() {
    let rules = policy(&["/*"], &["/context/*", "/tasks/[]/result/*"]);
    tell("workflow, two paths excluded", create_under(&rules, &workflow()));
    let saved = saving(&rules, &workflow());
    assert!((10.0..=15.0).contains(&saved), "{saved} %");
}
