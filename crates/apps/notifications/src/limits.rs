//! The limits of notifications.

/// Limits of an event: its payload as JSON, a snippet (S2-81), a name or other string in it, a dedupe key.
pub const NOTIFICATION_PAYLOAD_BYTES_MAX: usize = 8 * 1024;
pub const NOTIFICATION_SNIPPET_CHARS_MAX: usize = 140;
pub const NOTIFICATION_NAME_CHARS_MAX: usize = 200;
pub const NOTIFICATION_DEDUPE_KEY_CHARS_MAX: usize = 256;
/// Users that one request may notify.
pub const NOTIFICATION_USERS_MAX: usize = 50;
/// How far ahead an event may be scheduled: less than its retention.
pub const NOTIFICATION_AHEAD_DAYS_MAX: u64 = 29;
/// Limits of a notification's texts.
pub const NOTIFICATION_TITLE_CHARS_MAX: usize = 200;
pub const NOTIFICATION_BODY_CHARS_MAX: usize = 500;
pub const NOTIFICATION_DEEPLINK_CHARS_MAX: usize = 2_000;
/// Names that the aggregate of a dedupe key keeps.
pub const NOTIFICATION_ACTORS_MAX: usize = 5;
/// Event types of a policy, aliases of a type, and the length of a template.
pub const NOTIFICATION_KINDS_MAX: usize = 500;
pub const NOTIFICATION_ALIASES_MAX: usize = 50;
pub const NOTIFICATION_TEMPLATE_CHARS_MAX: usize = 1_000;
/// The retries that the seed allows (retryCount 0 to 5).
pub const NOTIFICATION_RETRIES_MAX: usize = 5;
/// A device's push token and label.
pub const NOTIFICATION_PUSH_TOKEN_BYTES_MAX: usize = 4 * 1024;
pub const NOTIFICATION_LABEL_CHARS_MAX: usize = 100;
/// Retention of events and notifications: thirty days; an event still undelivered a day before is
/// dead-lettered (C-36).
pub const NOTIFICATION_KEPT_SECONDS: u64 = 30 * 86_400;
pub const NOTIFICATION_UNDELIVERED_SECONDS_MAX: u64 = 29 * 86_400;
/// Retention of outbox items for their consumers.
pub const NOTIFICATION_OUTBOX_SECONDS: u64 = 7 * 86_400;
/// Page size of the in-app centre: default and maximum.
pub const NOTIFICATION_LIST_DEFAULT: usize = 20;
pub const NOTIFICATION_LIST_MAX: usize = 100;
/// Rows per page of the service's own queries, and rows per query in total.
pub const NOTIFICATION_ROWS_PAGE: usize = 1_000;
pub const NOTIFICATION_ROWS_MAX: usize = 10_000;
/// Items that one batch marks as read.
pub const NOTIFICATION_BATCH_MAX: usize = 50;
/// Passes over a set of items until nothing is left.
pub const NOTIFICATION_PASSES_MAX: usize = 1_000;
/// Attempts to change an item against concurrent writers; a registration meets more of them.
pub const NOTIFICATION_CHANGE_TRIES_MAX: usize = 16;
pub const NOTIFICATION_REGISTER_TRIES_MAX: usize = 64;
/// Active devices per user (S2-37), and the default retention of revoked ones.
pub const NOTIFICATION_DEVICES_MAX: usize = 3;
pub const NOTIFICATION_REVOKED_KEPT_SECONDS: u64 = 90 * 86_400;
/// Items that one run of a job processes, runs that a job remembers, and the duration of a run.
pub const NOTIFICATION_PURGE_MAX: usize = 100_000;
pub const NOTIFICATION_JOB_RUNS_MAX: usize = 20;
pub const NOTIFICATION_JOB_LEASE_SECONDS: u64 = 600;
/// Age at which an unfinished erasure is taken over by any process.
pub const NOTIFICATION_ERASURE_SECONDS: u64 = 60;
/// Interval between checks for due jobs.
pub const NOTIFICATION_JOBS_EVERY_SECONDS: u64 = 60;
/// Remembered push attempts per event, and the characters of an error.
pub const NOTIFICATION_ATTEMPTS_MAX: usize = 50;
pub const NOTIFICATION_ERROR_CHARS_MAX: usize = 500;
/// Events per page of a scan, events per user in it, users processed concurrently, and attempts to record the
/// end of an event when the store does not respond.
pub const NOTIFICATION_CLAIM_MAX: usize = 1_000;
pub const NOTIFICATION_GROUP_MAX: usize = 100;
pub const NOTIFICATION_USERS_AT_ONCE: usize = 64;
pub const NOTIFICATION_FINISH_TRIES_MAX: usize = 4;
/// Delay of an event whose provider is misconfigured, and of a dispatcher whose store does not respond.
pub const NOTIFICATION_MISCONFIGURED_SECONDS: u64 = 300;
pub const NOTIFICATION_STORE_WAIT_MILLIS_MAX: u64 = 5_000;
/// Time limit of a push, and size limit of the provider's response.
pub const PUSH_SECONDS_MAX: u64 = 20;
pub const PUSH_ANSWER_BYTES_MAX: usize = 64 * 1024;
