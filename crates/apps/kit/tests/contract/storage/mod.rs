//! One suite for both adapters of the ports for tables and queues.
//!
//! ```text
//! tables, queues   what holds on every store
//! world            stores to show it on: in process, or a server behind HTTP or TLS, with a key or with a signature
//! ```
//!
//! In process every fact has a test of its own; each way to a server shows all of them one after the other.

mod queues;
mod refusals;
mod tables;
mod world;

use world::{Way, World};

/// Tests of every fact, and the list of them.
macro_rules! facts {
    ($($area:ident :: $fact:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $fact() {
                super::$area::$fact(&super::World::open(super::Way::Embedded).await).await;
            })*
        }

        async fn all_of_them(way: Way) {
            let world = World::open(way).await;
            $(
                eprintln!(stringify!($fact));
                $area::$fact(&world.anew().await).await;
            )*
        }
    };
}

facts! {
    tables::an_entity_is_what_was_written,
    tables::conflict_changed_missing_and_refused_are_told_apart,
    tables::a_merge_keeps_what_it_does_not_name,
    tables::keys_may_be_any_text_that_a_key_may_be,
    tables::a_batch_is_done_whole_or_not_at_all,
    tables::a_batch_has_bounds,
    tables::pages_together_are_one_page,
    tables::a_query_shows_what_is_selected,
    tables::a_query_that_is_none_is_refused,
    tables::increments_at_once_lose_none,
    tables::what_is_there_stays_as_it_is,
    queues::a_message_is_received_as_it_was_put,
    queues::a_received_message_is_hidden_until_it_is_deleted,
    queues::a_receipt_that_was_replaced_is_good_for_nothing,
    queues::an_update_shows_a_message_at_once_with_another_text,
    queues::a_peek_takes_nothing,
    queues::consumers_at_once_share_the_messages,
    queues::what_is_out_of_bounds_is_refused,
    queues::a_queue_is_made_once_and_cleared,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_with_a_key() {
    all_of_them(Way::HttpKey).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_key() {
    all_of_them(Way::TlsKey).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_signature() {
    all_of_them(Way::TlsSas).await;
}
