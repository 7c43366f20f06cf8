//! Writes with triggers: the pre-triggers, the write and the post-triggers run in one transaction.

use super::partition::{Partition, Script, json};
use crate::error::Error;
use crate::items::{Done, ItemAction, ItemWrite, Refused, Step};
use crate::limits;
use crate::partition_key::PartitionKeyError;
use crate::store::Store;
use orrery_core::ItemId;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{self, Directive, Effect, Preconditions, PreparedItem, Target};
use orrery_documents::subresources::{self, Kind, Owner, Trigger, TriggerOperation, TriggerTime};
use orrery_keys::Epk;
use orrery_kv::Txn;
use orrery_script::{Call, On};
use std::sync::Arc;

/// The triggers named by a write, and the request as they see it.
#[derive(Clone, Debug, Default)]
pub struct TriggerNames {
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// The request's headers as a script sees them: a JSON object.
    pub headers: String,
}

/// The trigger operation that a write is, if triggers apply to it.
fn operation(action: &ItemAction) -> Option<On> {
    match action {
        ItemAction::Create { .. } => Some(On::Create),
        ItemAction::Upsert { .. } => Some(On::Upsert),
        ItemAction::Replace { .. } => Some(On::Replace),
        ItemAction::Delete { .. } => Some(On::Delete),
        ItemAction::Patch { .. } => None,
    }
}

impl Store {
    /// Executes the write and its triggers. A patch ignores triggers, as on the service.
    pub(crate) async fn write_with_triggers(
        &self,
        container: &Arc<Container>,
        request: &ItemWrite,
        step: &Step,
        triggers: &TriggerNames,
    ) -> Result<Done, Refused> {
        let Some(on) = operation(&request.action) else {
            return Ok(self.write_alone(container, request, step).await?);
        };
        let before = self.triggers(container, &triggers.before, TriggerTime::Pre, on)?;
        let after = self.triggers(container, &triggers.after, TriggerTime::Post, on)?;
        let job = Job {
            store: self.clone(),
            container: container.clone(),
            epk: step.epk().clone(),
            on,
            action: request.action.clone(),
            directive: request.directive,
            conditions: request.conditions,
            before,
            after,
            headers: triggers.headers.clone(),
        };
        let written = self.run_script(container, step.epk(), move |txn| job.run(txn)).await?;
        let AroundWrite { effect, charge, warnings, answer, log } = written.value;
        let effect = Effect { charge, warnings, ..effect };
        Ok(Done { effect, lsn: written.lsn, answer, script_log: log })
    }

    /// The named triggers, in order. Each must have this timing and cover the operation.
    fn triggers(
        &self,
        container: &Container,
        names: &[String],
        time: TriggerTime,
        on: On,
    ) -> Result<Vec<Script>, Error> {
        let header = match time {
            TriggerTime::Pre => "x-ms-documentdb-pre-trigger-include",
            TriggerTime::Post => "x-ms-documentdb-post-trigger-include",
        };
        if names.len() > limits::WRITE_TRIGGERS_MAX {
            let max = limits::WRITE_TRIGGERS_MAX;
            return Err(Error::Invalid(format!("The header {header} names more than {max} triggers.")));
        }
        let (snapshot, owner) = (self.snapshot(), Owner::Container(container.rid()));
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let child = subresources::find(&*snapshot, &owner, Kind::Trigger, name)?;
            let child = child.ok_or_else(|| {
                Error::Invalid(format!(
                    "The header {header} names the trigger '{name}', which is not there; create it first."
                ))
            })?;
            let trigger = Trigger::of(&child).ok_or(Error::Internal("a trigger's row is unreadable"))?;
            if trigger.time != time {
                let kind = if time == TriggerTime::Pre { "a pre-trigger" } else { "a post-trigger" };
                return Err(Error::Invalid(format!(
                    "The header {header} names the trigger '{name}', which is not {kind}; its triggerType says when it runs."
                )));
            }
            if !covers(trigger.operation, on) {
                return Err(Error::Invalid(format!(
                    "Trigger '{name}' was defined with operation type '{:?}', and therefore is invalid for '{on:?}'.",
                    trigger.operation
                )));
            }
            found.push(Script { name: child.name.to_string(), body: child.script().to_owned() });
        }
        Ok(found)
    }
}

/// One write with its triggers; may run more than once.
struct Job {
    store: Store,
    container: Arc<Container>,
    epk: Epk,
    on: On,
    action: ItemAction,
    directive: Directive,
    conditions: Preconditions,
    before: Vec<Script>,
    after: Vec<Script>,
    headers: String,
}

struct AroundWrite {
    effect: Effect,
    charge: Charge,
    warnings: u64,
    /// The response as changed by a post-trigger.
    answer: Option<String>,
    log: String,
}

impl Job {
    fn run(&self, txn: &mut Txn<'_>) -> Result<AroundWrite, Refused> {
        let mut partition = Partition::new(&self.store, &self.container, &self.epk, txn);
        let mut log = String::new();
        let after_log = |log: &str, refused: Refused| Refused {
            script_log: format!("{log}{}", refused.script_log),
            ..refused
        };
        let on = self.on;
        let mut document = match &self.action {
            ItemAction::Create { text } | ItemAction::Upsert { text } | ItemAction::Replace { text, .. } => {
                String::from_utf8_lossy(text).into_owned()
            }
            ItemAction::Patch { .. } | ItemAction::Delete { .. } => String::new(),
        };
        for script in &self.before {
            let given = (on != On::Delete).then_some(document.as_str());
            let ended = partition.run(script, Call::Before { on, document: given }, &self.headers);
            let ended = ended.map_err(|refused| after_log(&log, refused))?;
            log += &ended.log;
            if let Some(changed) = ended.body.filter(|_| on != On::Delete) {
                document = changed;
            }
        }
        let effect = self.write(&mut partition, &document);
        let effect = effect.map_err(|error| after_log(&log, error.into()))?;
        let given = (on != On::Delete).then_some(document.as_str());
        let mut written = (on != On::Delete).then(|| json(&effect.item, &self.container));
        let mut answer = None;
        for script in &self.after {
            let call = Call::After { on, document: given, written: written.as_deref() };
            let ended = partition.run(script, call, &self.headers);
            let ended = ended.map_err(|refused| after_log(&log, refused))?;
            log += &ended.log;
            if ended.body.is_some() {
                written.clone_from(&ended.body);
                answer = ended.body;
            }
        }
        let (charge, warnings) = (partition.charge, partition.warnings);
        Ok(AroundWrite { effect, charge, warnings, answer, log })
    }

    fn write(&self, partition: &mut Partition<'_, '_>, document: &str) -> Result<Effect, Error> {
        let step = match &self.action {
            ItemAction::Create { .. } => Step::Create(self.prepared(document)?),
            ItemAction::Upsert { .. } => Step::Upsert(self.prepared(document)?),
            ItemAction::Replace { id, .. } => Step::Replace(self.target(id), self.prepared(document)?),
            ItemAction::Delete { id } => Step::Delete(self.target(id)),
            ItemAction::Patch { .. } => return Err(Error::Internal("A patch runs no triggers.")),
        };
        let stamp = partition.stamp();
        let effect = self.store.apply(partition.txn, &self.container, &step, self.conditions, stamp)?;
        partition.pay(effect.charge);
        partition.warnings += effect.warnings;
        Ok(effect)
    }

    fn target(&self, id: &ItemId) -> Target {
        Target { epk: self.epk.clone(), id: id.clone() }
    }

    /// The item as changed by the pre-triggers, which must not move it to another partition.
    fn prepared(&self, document: &str) -> Result<PreparedItem, Error> {
        let item = item::prepare(&self.container, document.as_bytes())?.indexed(self.directive);
        if item.epk != self.epk {
            return Err(Error::PartitionKey(PartitionKeyError::Other(
                "A pre-trigger changed the partition key of the item.",
            )));
        }
        Ok(item)
    }
}

/// Whether a trigger defined for `defined` applies to this operation. An upsert is an operation of its own, whether
/// it creates or replaces.
fn covers(defined: TriggerOperation, on: On) -> bool {
    match defined {
        TriggerOperation::All => true,
        TriggerOperation::Create => on == On::Create,
        TriggerOperation::Update | TriggerOperation::Replace => on == On::Replace,
        TriggerOperation::Delete => on == On::Delete,
        TriggerOperation::Upsert => on == On::Upsert,
    }
}
