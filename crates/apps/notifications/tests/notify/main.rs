//! The invariants K1 to K8 and the scenarios B-2 to B-8 of the notification service, with the clock moved: on a store in
//! memory, and on a server over the wire.
//!
//! ```text
//! place      where the service keeps its items
//! fixture    the service under test, with scripted devices
//! wire/      faults of a store over the wire: busy, lost responses, silence, kill and restart
//! the rest   scenarios, the same on both
//! ```
//!
//! Cases that kill the service itself are among the server's tests.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod broken;
mod centre;
mod crashes;
mod dedupe;
mod devices;
mod erasure;
mod events;
mod fixture;
mod jobs;
mod limits;
mod place;
mod quiet;
mod random;
mod retries;
mod schemas;
mod together;
mod wire;

/// A test of each scenario in memory; over the wire one per area, with one server for all its scenarios.
macro_rules! scenarios {
    ($($area:ident: [$($scenario:ident,)*],)*) => {
        mod in_memory {
            $(mod $area {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $scenario() {
                    crate::$area::$scenario(&crate::place::Place::Memory).await;
                })*
            })*
        }

        mod over_the_wire {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $area() {
                let place = crate::place::Place::server();
                $(
                    eprintln!(stringify!($scenario));
                    crate::$area::$scenario(&place).await;
                )*
            })*
        }
    };
}

scenarios! {
    broken: [
        a_record_that_cannot_be_read_costs_its_own_users_events_alone,
        an_event_that_was_given_up_before_its_notification_gets_it_when_it_is_queued_again,
        the_many_events_of_one_user_do_not_keep_the_others_waiting,
    ],
    centre: [
        pages_are_newest_first_and_stay_as_they_are_while_more_arrives,
        a_list_is_narrowed_by_category_and_by_what_is_unread,
        the_count_of_unread_is_that_of_the_list_whatever_is_marked,
        a_mark_that_is_set_again_keeps_its_first_time,
        a_mark_with_an_old_tag_is_answered_with_what_is_there,
        a_watcher_sees_each_change_and_goes_on_where_it_was,
        preferences_begin_with_the_defaults_and_change_under_their_tag,
        a_continuation_that_is_none_is_refused_by_its_name,
    ],
    crashes: [
        wherever_a_dispatcher_crashes_the_end_is_the_same,
        no_event_is_over_before_its_notification_is_there,
        a_worker_that_was_overtaken_changes_nothing,
    ],
    dedupe: [
        fifty_likes_are_one_notification_and_one_push,
        the_first_of_a_window_is_named_and_the_next_window_is_another_notification,
        keys_of_different_users_and_different_keys_do_not_meet,
        news_bring_a_notification_back,
        the_aggregate_is_in_no_answer_of_the_seeds_queries,
    ],
    devices: [
        of_a_hundred_registrations_at_once_three_stay,
        a_device_that_registers_again_is_the_same_device,
        the_one_seen_longest_ago_makes_room_and_a_heartbeat_is_being_seen,
        the_guard_is_in_no_answer_of_the_seeds_queries,
        a_device_that_was_revoked_gets_nothing,
        every_active_device_gets_one_push,
    ],
    erasure: [
        nothing_is_left_and_nothing_comes_back,
        a_user_is_erased_while_ten_events_are_processing,
        an_event_of_an_erased_user_is_dropped_at_any_step,
        an_erasure_that_was_cut_off_is_ended,
        an_erasure_that_ended_is_no_longer_under_way,
    ],
    events: [
        an_event_becomes_a_notification_and_a_push,
        without_devices_or_with_the_category_off_an_event_is_completed_all_the_same,
        one_request_tells_up_to_fifty_users_each_by_an_event_of_their_own,
        the_same_key_is_the_same_event,
        an_event_that_is_scheduled_waits_and_can_be_cancelled_until_then,
        events_that_others_wrote_are_dispatched_and_nonsense_is_given_up,
        events_are_found_without_their_user_and_counted_by_status,
        events_of_a_user_are_pushed_in_their_order,
        a_provider_that_is_set_up_wrongly_costs_no_event,
    ],
    jobs: [
        devices_revoked_a_quarter_ago_are_purged_on_the_first_of_the_quarter,
        a_purge_is_run_by_hand_and_spares_who_came_back,
        an_event_that_was_never_delivered_is_given_up_before_it_expires,
        what_was_told_of_devices_goes_after_a_week,
    ],
    limits: [
        the_twenty_fifth_of_an_hour_is_in_app_only,
        all_of_one_look_are_counted_too,
        the_third_promotion_of_a_day_is_in_app_only,
        one_target_has_a_limit_of_its_own,
    ],
    quiet: [
        a_push_waits_for_the_morning_in_kolkata,
        a_push_waits_for_the_morning_in_new_york_on_the_days_when_clocks_change,
        an_alarm_does_not_wait,
        who_is_quiet_at_all_hours_is_never_pushed_to,
        what_joined_during_the_night_is_in_the_push_of_the_morning,
    ],
    retries: [
        a_token_that_is_gone_revokes_its_device_and_is_not_tried_again,
        a_message_that_is_refused_fails_for_good_and_the_device_stays,
        a_provider_that_asks_for_two_minutes_gets_them,
        a_provider_that_is_down_for_hours_leads_to_a_dead_letter_that_can_be_queued_again,
        a_retry_goes_only_to_those_who_do_not_have_it,
    ],
    schemas: [
        what_is_written_fits_the_schemas,
    ],
    together: [
        two_dispatchers_share_the_work_and_push_each_event_once,
        a_running_dispatcher_is_woken_by_what_comes_in,
        a_look_of_several_pages_comes_to_everybody,
    ],
}
