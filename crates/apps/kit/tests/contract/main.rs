//! One contract suite for both adapters of each port and the building blocks on top of them.
//!
//! ```text
//! facts/     facts that hold on every store
//! world      the store under test: in process, or a server behind HTTP or TLS, with a key or with a token
//! server     a server process
//! in_process limits and records of a store in this process
//! remote/    cases that exist only over the wire: killed, slow or split stores
//! storage/   the same for tables and queues
//! ```
//!
//! Every fact has a test in process and one over HTTP with a key; the other four connections check all facts
//! in sequence.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod facts;
mod fixture;
mod in_process;
mod remote;
mod server;
mod storage;

use fixture::{Connection, Fixture};

/// Defines the tests of every fact, and the list of facts.
macro_rules! facts {
    ($($area:ident :: $fact:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $fact() {
                crate::facts::$area::$fact(&crate::Fixture::open(crate::Connection::Embedded).await).await;
            })*
        }

        mod over_http_with_a_key {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $fact() {
                crate::facts::$area::$fact(&crate::Fixture::open(crate::Connection::HttpKey).await).await;
            })*
        }

        async fn check_all_facts(connection: Connection) {
            let fixture = Fixture::open(connection).await;
            $(
                eprintln!(stringify!($fact));
                facts::$area::$fact(&fixture.anew(stringify!($fact)).await).await;
            )*
        }
    };
}

facts! {
    items::an_item_is_what_was_written_and_its_system_members,
    items::conflict_changed_missing_and_refused_are_distinct,
    items::ids_and_partitions_may_be_any_valid_text,
    items::concurrent_increments_lose_none,
    items::what_was_written_is_read,
    reads::many_items_come_in_the_order_of_their_keys,
    reads::a_missing_item_is_left_out,
    reads::a_read_of_many_has_limits,
    batches::a_batch_is_atomic,
    batches::the_first_refused_write_determines_the_error,
    batches::only_one_of_two_conflicting_batches_succeeds,
    batches::a_batch_has_limits,
    queries::pages_together_are_one_page,
    queries::a_partition_sees_only_itself,
    queries::parameters_are_values_of_any_kind,
    queries::a_continuation_is_valid_only_for_its_own_query,
    queries::a_malformed_query_is_refused,
    queries::rows_of_all_partitions_are_merged,
    queries::a_query_calls_user_defined_functions,
    changes::every_change_is_seen_once_and_in_order_within_its_partition,
    changes::a_partition_has_a_feed_of_its_own,
    changes::nothing_new_is_an_empty_page_with_a_cursor,
    changes::a_foreign_cursor_is_refused,
    changes::the_end_of_changes_shows_only_later_changes,
    containers::existing_containers_stay_unchanged,
    containers::a_missing_container_is_not_a_missing_item,
    leases::one_of_many_contenders_gets_the_lease,
    leases::an_expired_lease_passes_on_and_fences_its_holder,
    leases::state_is_handed_over_and_a_released_lease_is_free,
    idempotency::a_repeated_request_gets_the_first_response,
    idempotency::of_concurrent_twins_the_first_response_stays,
    idempotency::each_key_has_a_partition_of_its_own,
    outbox::every_event_is_relayed_at_least_once_and_in_order,
    outbox::a_sink_that_fails_gets_the_event_again,
    outbox::another_relay_continues_at_the_cursor,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_with_a_token() {
    check_all_facts(Connection::HttpToken).await;
}

/// As on Azure, which cannot merge ranges itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_merging_ranges_itself() {
    check_all_facts(Connection::HttpMerging).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_key() {
    check_all_facts(Connection::TlsKey).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_token() {
    check_all_facts(Connection::TlsToken).await;
}
