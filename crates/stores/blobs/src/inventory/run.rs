//! A run of an inventory rule: a file of rows in the destination container, a manifest that is written first and last, and
//! the manifest's checksum.

use super::file::InventoryFile;
use super::rows::InventoryRow;
use crate::background::engine_error;
use crate::error::Error;
use crate::store::BlobStore;
use crate::upload::ExpectedHashes;
use bytes::Bytes;
use md5::{Digest, Md5};
use orrery_blobs::inventory::{
    self, Column, InventoryPolicy, InventoryRule, InventoryRun, InventorySchedule, Value,
};
use orrery_blobs::operations::PutOptions;
use orrery_blobs::{Address, BlobName, ContainerId, Refusal, Stamp};
use orrery_catalog::storage::AccountName;
use orrery_core::{Ticks, Timestamp};
use orrery_kv::{Error as EngineError, Txn};
use orrery_txn::{JobError, Progress, WriteError};
use serde_json::json;
use std::time::Duration;

/// What a run has written so far.
#[derive(Default)]
struct Totals {
    objects: u64,
    bytes: u64,
}

impl BlobStore {
    /// Runs one rule now. What the run did is remembered, a failure too.
    pub async fn run_inventory(
        &self,
        account: &AccountName,
        rule: &InventoryRule,
    ) -> Result<InventoryRun, Error> {
        let started = self.env().now();
        let mut run =
            InventoryRun { rule: rule.name.clone(), started: started.millis(), ..InventoryRun::default() };
        match self.write_inventory(account, rule, started, &mut run).await {
            Ok(manifest) => run.manifest = Some(manifest),
            Err(Error::Refused(refusal)) => run.failure = Some(refusal.to_string()),
            Err(error) => return Err(error),
        }
        run.finished = self.env().now().millis();
        let (account, saved) = (account.clone(), run.clone());
        let save = move |txn: &mut Txn<'_>, stamp: Stamp| {
            Ok(inventory::save_run(txn, &account, stamp.ticks, &saved)?)
        };
        self.write_catalog(&[], save).await?;
        Ok(run)
    }

    /// The last runs, the newest first.
    pub fn inventory_runs(&self, account: &AccountName) -> Result<Vec<InventoryRun>, Error> {
        Ok(inventory::runs(&*self.snapshot(), account)?)
    }

    async fn write_inventory(
        &self,
        account: &AccountName,
        rule: &InventoryRule,
        started: Timestamp,
        run: &mut InventoryRun,
    ) -> Result<String, Error> {
        let folder = format!("{}/{}", folder_of(started), rule.name);
        let place = Destination {
            store: self,
            container: ContainerId { account: account.clone(), name: rule.destination.clone() },
        };
        let manifest = format!("{folder}/{}-manifest.json", rule.name);
        place.put(&manifest, pending(rule, started).to_string().into()).await?;
        let extension = InventoryFile::extension(rule);
        let file = format!("{folder}/{}.{extension}", rule.name);
        let mut totals = Totals::default();
        let size = place.put_rows(&file, account, rule, &mut totals).await?;
        (run.objects, run.bytes) = (totals.objects, totals.bytes);
        let written = Written { file: &file, size, totals: &totals, finished: self.env().now() };
        let text = succeeded(rule, started, &written).to_string();
        let checksum: String = Md5::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        place.put(&manifest, text.into()).await?;
        place.put(&format!("{folder}/{}-manifest.checksum", rule.name), checksum.into()).await?;
        Ok(manifest)
    }

    /// Now and then runs the rules that are due, daily or weekly.
    pub(crate) fn run_inventories(&self) -> Result<Progress, JobError> {
        self.0.inventories.step_each(self.env().now(), || [()], |()| self.run_due_inventories())
    }

    fn run_due_inventories(&self) -> Result<bool, JobError> {
        let now = self.env().now();
        for account in inventory::accounts(&*self.snapshot()).map_err(WriteError::Engine)? {
            let Some(policy) = self.inventory_policy(&account).map_err(engine_error)? else { continue };
            let runs = self.inventory_runs(&account).map_err(engine_error)?;
            for rule in due_rules(&policy, &runs, now) {
                let runtime = tokio::runtime::Builder::new_current_thread().build();
                let runtime = runtime
                    .map_err(|error| WriteError::Engine(EngineError::Unavailable(error.to_string())))?;
                runtime.block_on(self.run_inventory(&account, rule)).map_err(engine_error)?;
            }
        }
        Ok(false)
    }
}

/// The rules whose last run is a day or a week ago.
fn due_rules<'a>(
    policy: &'a InventoryPolicy,
    runs: &'a [InventoryRun],
    now: Timestamp,
) -> impl Iterator<Item = &'a InventoryRule> {
    let is_due = move |rule: &&InventoryRule| {
        let days = match rule.schedule {
            InventorySchedule::Daily => 1,
            InventorySchedule::Weekly => 7,
        };
        let every = Duration::from_secs(days * 24 * 60 * 60);
        let last = runs.iter().find(|run| run.rule == rule.name);
        last.is_none_or(|last| Timestamp::from_millis(last.started).plus(every) <= now)
    };
    policy.rules.iter().filter(|rule| policy.is_enabled && rule.is_enabled).filter(is_due)
}

/// Where the files of a run go.
struct Destination<'a> {
    store: &'a BlobStore,
    container: ContainerId,
}

impl Destination<'_> {
    fn address(&self, name: &str) -> Result<Address, Error> {
        let name = BlobName::parse(name).map_err(|_| Refusal::InvalidInput("the name of the rule"))?;
        Ok(self.container.blob(name))
    }

    async fn put(&self, name: &str, content: Bytes) -> Result<(), Error> {
        let mut writer = self.store.upload(u64::MAX);
        writer.write(content).await?;
        let uploaded = writer.finish(ExpectedHashes::default()).await?;
        self.store.put_blob(&self.address(name)?, uploaded, PutOptions::default()).await.map(drop)
    }

    /// Returns the size of the file.
    async fn put_rows(
        &self,
        name: &str,
        account: &AccountName,
        rule: &InventoryRule,
        totals: &mut Totals,
    ) -> Result<u64, Error> {
        let (mut writer, mut file) = (self.store.upload(u64::MAX), InventoryFile::new(rule)?);
        for row in self.store.inventory_rows(account, rule) {
            let row = row?;
            totals.add(&rule.columns, &row);
            writer.write(file.push(row)?).await?;
        }
        writer.write(file.finish()?).await?;
        let size = writer.length();
        let uploaded = writer.finish(ExpectedHashes::default()).await?;
        self.store.put_blob(&self.address(name)?, uploaded, PutOptions::default()).await?;
        Ok(size)
    }
}

impl Totals {
    fn add(&mut self, columns: &[Column], row: &InventoryRow) {
        self.objects += 1;
        let length = columns.iter().position(|column| column.name == "Content-Length");
        if let Some(Some(Value::Integer(bytes))) = length.map(|at| &row[at]) {
            self.bytes += bytes;
        }
    }
}

/// `2027/01/15/08-00-00`
fn folder_of(at: Timestamp) -> String {
    let text = Ticks::at(at).to_string();
    let (date, time) = (text[..10].replace('-', "/"), text[11..19].replace(':', "-"));
    format!("{date}/{time}")
}

struct Written<'a> {
    file: &'a str,
    size: u64,
    totals: &'a Totals,
    finished: Timestamp,
}

fn pending(rule: &InventoryRule, started: Timestamp) -> serde_json::Value {
    json!({
        "destinationContainer": rule.destination.as_str(),
        "inventoryStartTime": Ticks::at(started).to_string(),
        "ruleName": rule.name,
        "status": "Pending",
        "version": "1.0",
    })
}

fn succeeded(rule: &InventoryRule, started: Timestamp, written: &Written<'_>) -> serde_json::Value {
    json!({
        "destinationContainer": rule.destination.as_str(),
        "files": [{ "blob": written.file, "size": written.size }],
        "inventoryCompletionTime": Ticks::at(written.finished).to_string(),
        "inventoryStartTime": Ticks::at(started).to_string(),
        "ruleDefinition": rule.definition,
        "ruleName": rule.name,
        "status": "Succeeded",
        "summary": { "objectCount": written.totals.objects, "totalObjectSize": written.totals.bytes },
        "version": "1.0",
    })
}
