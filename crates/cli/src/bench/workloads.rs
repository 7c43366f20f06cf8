//! The workloads of the example blueprints, and the latencies that they should stay below.

use super::draw::{DAY_MILLIS, date, mix, time};
use super::sets::{self, Set};

pub struct Workload {
    /// Its name on the command line.
    pub id: &'static str,
    pub about: &'static str,
    pub set: Set,
    pub act: Act,
    /// Requests under way at once.
    pub clients: usize,
    /// What 95 of 100 should stay below.
    pub target_millis: f64,
    /// Whether the design says so; else it is what we ask of ourselves.
    pub is_of_design: bool,
}

pub enum Act {
    /// Any item, by its id.
    Read,
    /// Any item, replaced by itself after some changes; answered when it is durable.
    Replace,
    /// A query of the blueprint.
    Ask {
        query: &'static str,
        /// Of a page; only the first is asked for.
        rows_max: usize,
        /// Parameters by name, for a number that goes on with every request.
        parameters: fn(number: u64) -> Vec<(&'static str, String)>,
    },
}

pub const ALL: [Workload; 8] = [
    Workload {
        id: "read-workflow",
        about: "one workflow state of 50 KB, by its id",
        set: sets::WORKFLOWS,
        act: Act::Read,
        clients: 16,
        target_millis: 10.0,
        is_of_design: true,
    },
    Workload {
        id: "replace-workflow",
        about: "one workflow state of 50 KB, replaced",
        set: sets::WORKFLOWS,
        act: Act::Replace,
        clients: 16,
        target_millis: 50.0,
        is_of_design: true,
    },
    Workload {
        id: "recent-memories",
        about: "the newest 100 memories of an agent",
        set: sets::MEMORIES,
        act: Act::Ask {
            query: "recent-memories",
            rows_max: 100,
            parameters: |_| vec![("agent_id", sets::agent(0))],
        },
        clients: 1,
        target_millis: 50.0,
        is_of_design: true,
    },
    Workload {
        id: "metrics-of-week",
        about: "metrics of an agent, over seven days",
        set: sets::METRICS,
        act: Act::Ask { query: "metrics-between", rows_max: 1000, parameters: week },
        clients: 1,
        target_millis: 200.0,
        is_of_design: true,
    },
    Workload {
        id: "tool-invocations",
        about: "the first 100 tool invocations of a day",
        set: sets::INVOCATIONS,
        act: Act::Ask {
            query: "tool-invocations-of-day",
            rows_max: 100,
            parameters: |_| vec![("tool_date", date(0))],
        },
        clients: 1,
        target_millis: 100.0,
        is_of_design: true,
    },
    Workload {
        id: "pending-events",
        about: "the events that are due, of all users",
        set: sets::EVENTS,
        act: Act::Ask {
            query: "pending-events",
            rows_max: 1000,
            parameters: |_| vec![("now", sets::dispatch_time())],
        },
        clients: 1,
        target_millis: 10.0,
        is_of_design: false,
    },
    Workload {
        id: "unread-count",
        about: "how many notifications are unread",
        set: sets::NOTIFICATIONS,
        act: Act::Ask { query: "unread-count", rows_max: 100, parameters: busy_user },
        clients: 1,
        target_millis: 5.0,
        is_of_design: false,
    },
    Workload {
        id: "newest-twenty",
        about: "the newest 20 notifications",
        set: sets::NOTIFICATIONS,
        act: Act::Ask { query: "notifications-of-user", rows_max: 20, parameters: busy_user },
        clients: 1,
        target_millis: 5.0,
        is_of_design: false,
    },
];

fn week(number: u64) -> Vec<(&'static str, String)> {
    let agent = sets::agent(mix(number) % sets::REPORTING);
    vec![("agent_id", agent), ("from", time(0)), ("to", time(7 * DAY_MILLIS))]
}

fn busy_user(number: u64) -> Vec<(&'static str, String)> {
    vec![("userId", sets::user(number % sets::BUSY))]
}
