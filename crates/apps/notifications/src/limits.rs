//! The limits of notifications.

/// What a notification event may carry: its payload as JSON, a snippet (S2-81), a name or other text of it, a dedupe key.
pub const NOTIFICATION_PAYLOAD_BYTES_MAX: usize = 8 * 1024;
pub const NOTIFICATION_SNIPPET_CHARS_MAX: usize = 140;
pub const NOTIFICATION_NAME_CHARS_MAX: usize = 200;
pub const NOTIFICATION_DEDUPE_KEY_CHARS_MAX: usize = 256;
/// Users that one request may tell.
pub const NOTIFICATION_USERS_MAX: usize = 50;
/// How far ahead an event may be put: less than the days that it is kept for.
pub const NOTIFICATION_AHEAD_DAYS_MAX: u64 = 29;
/// What a notification shows.
pub const NOTIFICATION_TITLE_CHARS_MAX: usize = 200;
pub const NOTIFICATION_BODY_CHARS_MAX: usize = 500;
pub const NOTIFICATION_DEEPLINK_CHARS_MAX: usize = 2_000;
/// Names that the count of events of one dedupe key keeps.
pub const NOTIFICATION_ACTORS_MAX: usize = 5;
/// Event types that a policy may have, and names beside its own of one.
pub const NOTIFICATION_KINDS_MAX: usize = 500;
pub const NOTIFICATION_ALIASES_MAX: usize = 50;
pub const NOTIFICATION_TEMPLATE_CHARS_MAX: usize = 1_000;
/// The retries that the seed allows (retryCount 0 to 5).
pub const NOTIFICATION_RETRIES_MAX: usize = 5;
/// A device's push token and label.
pub const NOTIFICATION_PUSH_TOKEN_BYTES_MAX: usize = 4 * 1024;
pub const NOTIFICATION_LABEL_CHARS_MAX: usize = 100;
/// Events and notifications are kept for thirty days; an event that was not delivered a day before is given up (C-36).
pub const NOTIFICATION_KEPT_SECONDS: u64 = 30 * 86_400;
pub const NOTIFICATION_UNDELIVERED_SECONDS_MAX: u64 = 29 * 86_400;
/// What was told to the world is kept so long for those who have to hear it.
pub const NOTIFICATION_OUTBOX_SECONDS: u64 = 7 * 86_400;
/// A page of the in-app centre, if none is asked for and at most.
pub const NOTIFICATION_LIST_DEFAULT: usize = 20;
pub const NOTIFICATION_LIST_MAX: usize = 100;
/// Rows of one page that the service asks for on its own account, and rows of one question in all.
pub const NOTIFICATION_ROWS_PAGE: usize = 1_000;
pub const NOTIFICATION_ROWS_MAX: usize = 10_000;
/// Items that one batch marks as read.
pub const NOTIFICATION_BATCH_MAX: usize = 50;
/// How often something is gone through until nothing is left of it.
pub const NOTIFICATION_PASSES_MAX: usize = 1_000;
/// How often a change is tried against others of the same item; a registration has more of them to expect.
pub const NOTIFICATION_CHANGE_TRIES_MAX: usize = 16;
pub const NOTIFICATION_REGISTER_TRIES_MAX: usize = 64;
/// Devices of a user that get pushes (S2-37), and how long one that was revoked is kept by default.
pub const NOTIFICATION_DEVICES_MAX: usize = 3;
pub const NOTIFICATION_REVOKED_KEPT_SECONDS: u64 = 90 * 86_400;
/// Items that one run of a job goes through, runs that a job remembers, and how long one may take.
pub const NOTIFICATION_PURGE_MAX: usize = 100_000;
pub const NOTIFICATION_JOB_RUNS_MAX: usize = 20;
pub const NOTIFICATION_JOB_LEASE_SECONDS: u64 = 600;
/// An erasure that has not ended so long after it began, and a lease of an event, is ended by any process.
pub const NOTIFICATION_ERASURE_SECONDS: u64 = 60;
/// How often jobs are looked at.
pub const NOTIFICATION_JOBS_EVERY_SECONDS: u64 = 60;
/// Pushes of one event that are remembered, and the characters of an error.
pub const NOTIFICATION_ATTEMPTS_MAX: usize = 50;
pub const NOTIFICATION_ERROR_CHARS_MAX: usize = 500;
/// Events of a page of a look for work, how many of them may be of one user, users that are worked on at once, and how
/// often the end of an event is written again when the store does not answer.
pub const NOTIFICATION_CLAIM_MAX: usize = 1_000;
pub const NOTIFICATION_GROUP_MAX: usize = 100;
pub const NOTIFICATION_USERS_AT_ONCE: usize = 64;
pub const NOTIFICATION_FINISH_TRIES_MAX: usize = 4;
/// How long an event waits whose provider is set up wrongly, and a dispatcher whose store does not answer.
pub const NOTIFICATION_MISCONFIGURED_SECONDS: u64 = 300;
pub const NOTIFICATION_STORE_WAIT_MILLIS_MAX: u64 = 5_000;
/// The time of a push, and the provider's answer.
pub const PUSH_SECONDS_MAX: u64 = 20;
pub const PUSH_ANSWER_BYTES_MAX: usize = 64 * 1024;
