//! The limits of the admin routes: measurements, metering and alerts.

/// Logical partitions of a container, and queries of all, that a report names.
pub const MONITOR_PARTITIONS_TOLD_MAX: usize = 10;
pub const MONITOR_QUERIES_TOLD_MAX: usize = 20;
/// How often the sizes of containers are looked up, how many partitions one look goes through in all, and how often what
/// was measured is written down.
pub const MONITOR_SIZES_EVERY_SECONDS: u64 = 60;
pub const MONITOR_SIZES_ROWS_MAX: u64 = 1_000_000;
pub const METERING_EVERY_SECONDS: u64 = 60;
/// Hours that measured use is kept for: thirteen months.
pub const METERING_HOURS_MAX: u32 = 13 * 31 * 24;
/// Looks at the counters that alerts keep, at most this many within a rule's window; alerts at once, and those that are
/// over and still told.
pub const ALERT_SAMPLES_MAX: usize = 16;
pub const ALERT_WINDOW_SECONDS_MAX: u64 = 86_400;
pub const ALERTS_MAX: usize = 1_024;
pub const ALERTS_RESOLVED_MAX: usize = 64;
/// Tables of all accounts, and queues, that are told apart; and those that one report for advice tells of.
pub const MONITOR_RESOURCES_MAX: usize = 256;
pub const ADVICE_RESOURCES_MAX: usize = 256;
