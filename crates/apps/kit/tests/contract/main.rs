//! One suite for both adapters of each port, and what is built on them.
//!
//! ```text
//! facts/     what holds on every store
//! world      a store to show them on: in process, or a server behind HTTP or TLS, with a key or with a token
//! server     a server process
//! in_process what a store in this process refuses and remembers, as one over the wire does
//! remote/    what only a store over the wire can do: be gone, be slow, be split
//! storage/   the same for tables and queues
//! ```
//!
//! Every fact has a test in process and one over HTTP with a key; the other four ways to a server show all of them one
//! after the other.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod facts;
mod in_process;
mod remote;
mod server;
mod storage;
mod world;

use world::{Way, World};

/// Tests of every fact, and the list of them.
macro_rules! facts {
    ($($area:ident :: $fact:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $fact() {
                crate::facts::$area::$fact(&crate::World::open(crate::Way::Embedded).await).await;
            })*
        }

        mod over_http_with_a_key {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $fact() {
                crate::facts::$area::$fact(&crate::World::open(crate::Way::HttpKey).await).await;
            })*
        }

        async fn all_of_them(way: Way) {
            let world = World::open(way).await;
            $(
                eprintln!(stringify!($fact));
                facts::$area::$fact(&world.anew(stringify!($fact)).await).await;
            )*
        }
    };
}

facts! {
    items::an_item_is_what_was_written_and_its_system_members,
    items::conflict_changed_missing_and_refused_are_told_apart,
    items::ids_and_partitions_may_be_any_text_that_an_id_may_be,
    items::increments_at_once_lose_none,
    items::what_was_written_is_read,
    batches::a_batch_is_done_whole_or_not_at_all,
    batches::the_first_that_was_refused_is_to_blame,
    batches::two_batches_that_meet_do_not_both_win,
    batches::a_batch_has_bounds,
    queries::pages_together_are_one_page,
    queries::a_partition_sees_only_itself,
    queries::parameters_are_values_of_any_kind,
    queries::a_continuation_goes_on_with_its_own_query_only,
    queries::a_query_that_is_none_is_refused,
    queries::rows_of_all_partitions_are_merged,
    queries::a_query_calls_user_defined_functions,
    changes::every_change_is_seen_once_and_in_order_within_its_partition,
    changes::a_partition_has_a_feed_of_its_own,
    changes::nothing_new_is_an_empty_page_with_a_cursor,
    changes::a_cursor_of_something_else_is_refused,
    changes::the_end_of_changes_shows_only_what_comes_after_it,
    containers::what_is_there_stays_as_it_is,
    containers::a_container_that_is_not_there_is_not_a_missing_item,
    leases::of_many_that_try_one_has_it,
    leases::a_lease_that_ran_out_goes_to_another_and_the_first_is_fenced,
    leases::state_is_handed_over_and_a_released_lease_is_free,
    idempotency::a_repeated_request_is_answered_as_it_was,
    idempotency::of_twins_one_is_first_and_the_first_answer_stays,
    idempotency::each_key_has_a_partition_of_its_own,
    outbox::every_event_is_handed_on_at_least_once_and_in_order,
    outbox::a_sink_that_fails_gets_the_event_again,
    outbox::another_relay_goes_on_where_one_broke_off,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_with_a_token() {
    all_of_them(Way::HttpToken).await;
}

/// As on Azure, which knows no shortcut.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_merging_ranges_itself() {
    all_of_them(Way::HttpMerging).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_key() {
    all_of_them(Way::TlsKey).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_token() {
    all_of_them(Way::TlsToken).await;
}
