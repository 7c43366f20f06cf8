//! Scheduled jobs (C-82), run once among all processes, with a readable history.
//!
//! A job's lease holds its state: when it is next due, and its last runs. Runs missed while no process was up
//! are made up for once.

use super::containers::SERVICE;
use super::cron::Cron;
use super::{Notifications, ServiceError};
use crate::limits;
use orrery_core::Timestamp;
use orrery_kit::lease::{Lease, Leases};
use orrery_kit::time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// A task and its schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub name: String,
    pub schedule: Cron,
    pub task: Task,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Deletes devices revoked longer ago than this.
    PurgeDevices { older_than: Duration },
    /// Dead-letters events before they expire, and deletes old outbox items of devices.
    Sweep,
}

impl Job {
    /// Devices quarterly (S2-69), events hourly. The error is a sentence, and possible only in a broken
    /// build.
    pub fn defaults() -> Result<Vec<Self>, String> {
        let older_than = Duration::from_secs(limits::NOTIFICATION_REVOKED_KEPT_SECONDS);
        let job = |name: &str, schedule: &str, task| -> Result<Self, String> {
            Ok(Self { name: name.to_owned(), schedule: schedule.parse()?, task })
        };
        Ok(vec![
            job("purge-devices", "0 3 1 1,4,7,10 *", Task::PurgeDevices { older_than })?,
            job("sweep-events", "30 * * * *", Task::Sweep)?,
        ])
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct History {
    next_run_at: Option<String>,
    /// Newest first.
    runs: Vec<Run>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    started_at: String,
    ended_at: String,
    worker: String,
    /// The amount done, or the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Notifications {
    /// Runs the due jobs, and returns how many ran here.
    pub async fn run_jobs(&self) -> Result<u64, ServiceError> {
        self.ensure().await?;
        let mut ran = 0;
        for job in &self.0.jobs {
            ran += u64::from(self.run_job(job).await?);
        }
        Ok(ran)
    }

    /// All jobs with their schedules and last runs.
    pub async fn jobs(&self) -> Result<Value, ServiceError> {
        self.ensure().await?;
        let mut listed = Vec::new();
        for job in &self.0.jobs {
            let seen = self.leases().inspect(&lease_of(job)).await?;
            let history = seen.as_ref().map(|seen| history(&seen.state)).unwrap_or_default();
            let next =
                history.next_run_at.clone().or_else(|| job.schedule.next_after(self.now()).map(time::format));
            let running = seen.filter(|seen| seen.until > self.now()).map(|seen| seen.owner);
            listed.push(json!({
                "name": job.name,
                "schedule": job.schedule.to_string(),
                "nextRunAt": next,
                "runningOn": running,
                "runs": history.runs,
            }));
        }
        Ok(Value::Array(listed))
    }

    async fn run_job(&self, job: &Job) -> Result<bool, ServiceError> {
        let leases = self.leases();
        let seen = leases.inspect(&lease_of(job)).await?;
        let known = seen.map(|seen| history(&seen.state)).unwrap_or_default();
        if known.next_run_at.is_some() && !is_due(&known, self.now()) {
            return Ok(false);
        }
        let Some(mut lease) = leases.acquire(&lease_of(job)).await? else { return Ok(false) };
        let mut history = history(&lease.state);
        let will_run = is_due(&history, self.now());
        if will_run {
            let run = self.run_task(job, &leases, &mut lease).await?;
            history.runs.insert(0, run);
            history.runs.truncate(limits::NOTIFICATION_JOB_RUNS_MAX);
        }
        history.next_run_at = job.schedule.next_after(self.now()).map(time::format);
        let is_held = leases.save(&mut lease, json!(history)).await?;
        if is_held {
            leases.release(lease).await?;
        }
        Ok(will_run)
    }

    /// Tasks may run twice without harm, so losing the lease meanwhile is not an error.
    async fn run_task(&self, job: &Job, leases: &Leases, lease: &mut Lease) -> Result<Run, ServiceError> {
        let started_at = self.stamp();
        leases.renew_if_due(lease).await?;
        let done = match job.task {
            Task::PurgeDevices { older_than } => self.purge_devices(older_than).await,
            Task::Sweep => self.sweep().await,
        };
        let (count, error) = match done {
            Ok(count) => (Some(count), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Ok(Run { started_at, ended_at: self.stamp(), worker: self.worker().to_owned(), count, error })
    }

    fn leases(&self) -> Leases {
        let length = Duration::from_secs(limits::NOTIFICATION_JOB_LEASE_SECONDS);
        Leases::new(self.documents().clone(), SERVICE, self.env().clone(), self.worker(), length)
    }
}

fn lease_of(job: &Job) -> String {
    format!("job:{}", job.name)
}

fn history(state: &Value) -> History {
    serde_json::from_value(state.clone()).unwrap_or_default()
}

fn is_due(history: &History, now: Timestamp) -> bool {
    history.next_run_at.as_deref().and_then(time::parse).is_some_and(|next| next <= now)
}
