//! Writes that name triggers: the pre-triggers, the write and the post-triggers in one transaction.

use super::partition::{Partition, Script, json};
use super::{escaped_log, values, work};
use crate::failure::Failure;
use crate::handlers::items;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use bytes::Bytes;
use http::{HeaderName, StatusCode};
use orrery_core::limits;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{self, Directive, Effect, Preconditions, PreparedItem, Target};
use orrery_documents::subresources::{self, Kind, Owner, Trigger, TriggerOperation, TriggerTime};
use orrery_keys::Epk;
use orrery_script::{Call, On};
use std::sync::Arc;

/// What is to be written, and under which conditions.
#[derive(Clone)]
pub enum Write {
    Create,
    Upsert(Preconditions),
    Replace(Target, Preconditions),
    Delete(Target, Preconditions),
}

impl Write {
    fn operation(&self) -> On {
        match self {
            Self::Create => On::Create,
            Self::Upsert(_) => On::Upsert,
            Self::Replace(..) => On::Replace,
            Self::Delete(..) => On::Delete,
        }
    }
}

/// The item that a write brings: its text, which pre-triggers may change, and how it is to be indexed.
#[derive(Clone, Default)]
pub struct Text {
    pub bytes: Bytes,
    pub directive: Directive,
}

/// Whether the request names any trigger.
pub fn are_named(request: &Request) -> bool {
    let is_named = |name: &HeaderName| request.head.headers.get(name).is_some_and(|value| !value.is_empty());
    is_named(&header::PRE_TRIGGER_INCLUDE) || is_named(&header::POST_TRIGGER_INCLUDE)
}

/// Does the write with its triggers around it.
pub async fn write(
    cosmos: &Cosmos,
    request: &Request,
    container: &Arc<Container>,
    epk: Epk,
    text: Text,
    write: Write,
) -> Result<Reply, Failure> {
    let on = write.operation();
    let (before, after) = (
        named(cosmos, request, container, TriggerTime::Pre, on)?,
        named(cosmos, request, container, TriggerTime::Post, on)?,
    );
    let wants_log = request.is_true(&header::SCRIPT_ENABLE_LOGGING);
    let job = Job {
        cosmos: cosmos.clone(),
        container: container.clone(),
        epk: epk.clone(),
        before,
        after,
        values: values(request),
    };
    let body = {
        let write = write.clone();
        move |txn: &mut orrery_document_store::Txn<'_>| {
            let done = job.run(txn, &text, &write);
            done.map_err(|(failure, log)| failure.and(escaped_log(wants_log, &log)))
        }
    };
    let written = work::write(cosmos, container, &epk, body).await;
    let written = written.map_err(|failure| {
        failure.and(items::place(cosmos, container, &epk, cosmos.store().durable_lsn()))
    })?;
    let Done { effect, charge, warnings, answer, log } = written.value;
    let effect = Effect { charge, ..effect };
    let reply = match write {
        Write::Delete(target, _) => {
            cosmos.usage().touched(container.number(), target.epk.as_bytes());
            let reply = Reply::new(StatusCode::NO_CONTENT, charge);
            reply.headers(items::place(cosmos, container, &epk, written.lsn))
        }
        Write::Create | Write::Upsert(_) | Write::Replace(..) => {
            cosmos.usage().touched(container.number(), epk.as_bytes());
            let reply = items::write_reply(cosmos, request, container, &epk, &effect, written.lsn);
            match answer.filter(|_| !request.wants_minimal()) {
                Some(answer) => reply.json(answer),
                None => reply,
            }
        }
    };
    Ok(reply.warnings(warnings).headers(escaped_log(wants_log, &log)))
}

/// The triggers that the header for this time names, in its order. Each must be of that time and cover the operation.
fn named(
    cosmos: &Cosmos,
    request: &Request,
    container: &Container,
    time: TriggerTime,
    on: On,
) -> Result<Vec<Script>, Failure> {
    let header = match time {
        TriggerTime::Pre => &header::PRE_TRIGGER_INCLUDE,
        TriggerTime::Post => &header::POST_TRIGGER_INCLUDE,
    };
    let list = request.header_or_refuse(header)?.unwrap_or_default();
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > limits::WRITE_TRIGGERS_MAX {
        let max = limits::WRITE_TRIGGERS_MAX;
        return Err(Failure::bad_request(format!("The header {header} names more than {max} triggers.")));
    }
    let (snapshot, owner) = (cosmos.store().snapshot(), Owner::Container(container.rid()));
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let child = subresources::find(&*snapshot, &owner, Kind::Trigger, name)?;
        let child = child.ok_or_else(|| {
            Failure::bad_request(format!(
                "The header {header} names the trigger '{name}', which is not there; create it first."
            ))
        })?;
        let trigger =
            Trigger::of(&child).ok_or_else(|| Failure::internal("a trigger's row is unreadable"))?;
        if trigger.time != time {
            let kind = if time == TriggerTime::Pre { "a pre-trigger" } else { "a post-trigger" };
            return Err(Failure::bad_request(format!(
                "The header {header} names the trigger '{name}', which is not {kind}; its triggerType says when it runs."
            )));
        }
        if !covers(trigger.operation, on) {
            return Err(Failure::bad_request(format!(
                "Trigger '{name}' was defined with operation type '{:?}', and therefore is invalid for '{on:?}'.",
                trigger.operation
            )));
        }
        found.push(Script { name: child.name.to_string(), body: child.script().to_owned() });
    }
    Ok(found)
}

/// One write with its triggers; it may be run more than once.
struct Job {
    cosmos: Cosmos,
    container: Arc<Container>,
    epk: Epk,
    before: Vec<Script>,
    after: Vec<Script>,
    values: String,
}

struct Done {
    effect: Effect,
    charge: Charge,
    warnings: u64,
    /// What a post-trigger made of the answer.
    answer: Option<String>,
    log: String,
}

impl Job {
    fn run(
        &self,
        txn: &mut orrery_document_store::Txn<'_>,
        text: &Text,
        write: &Write,
    ) -> Result<Done, (Failure, String)> {
        let mut partition = Partition::new(&self.cosmos, &self.container, &self.epk, txn);
        let mut log = String::new();
        let on = write.operation();
        let mut document = String::from_utf8_lossy(&text.bytes).into_owned();
        for script in &self.before {
            let given = (on != On::Delete).then_some(document.as_str());
            let ended = partition.run(script, Call::Before { on, document: given }, &self.values);
            let ended = ended.map_err(|(failure, said)| (failure, format!("{log}{said}")))?;
            log += &ended.log;
            if let Some(changed) = ended.body.filter(|_| on != On::Delete) {
                document = changed;
            }
        }
        let effect = self
            .apply(&mut partition, &document, text.directive, write)
            .map_err(|failure| (failure, log.clone()))?;
        let given = (on != On::Delete).then_some(document.as_str());
        let mut written = (on != On::Delete).then(|| json(&effect.item, &self.container));
        let mut answer = None;
        for script in &self.after {
            let call = Call::After { on, document: given, written: written.as_deref() };
            let ended = partition.run(script, call, &self.values);
            let ended = ended.map_err(|(failure, said)| (failure, format!("{log}{said}")))?;
            log += &ended.log;
            if ended.body.is_some() {
                written.clone_from(&ended.body);
                answer = ended.body;
            }
        }
        let (charge, warnings) = (partition.charge, partition.warnings);
        Ok(Done { effect, charge, warnings, answer, log })
    }

    fn apply(
        &self,
        partition: &mut Partition<'_, '_>,
        document: &str,
        directive: Directive,
        write: &Write,
    ) -> Result<Effect, Failure> {
        let (container, stamp) = (&*self.container, partition.stamp());
        let ordinal = || self.cosmos.store().next_ordinal();
        let effect = match write {
            Write::Create => {
                item::create(partition.txn, container, &self.prepared(document, directive)?, stamp, ordinal)
            }
            Write::Upsert(conditions) => {
                let item = self.prepared(document, directive)?;
                item::upsert(partition.txn, container, &item, *conditions, stamp, ordinal)
            }
            Write::Replace(target, conditions) => {
                let item = self.prepared(document, directive)?;
                item::replace(partition.txn, container, target, &item, *conditions, stamp)
            }
            Write::Delete(target, conditions) => {
                item::delete(partition.txn, container, target, *conditions, stamp)
            }
        }?;
        partition.pay(effect.charge);
        partition.warnings += effect.warnings;
        Ok(effect)
    }

    /// The item as the pre-triggers left it; they must leave it in its partition.
    fn prepared(&self, document: &str, directive: Directive) -> Result<PreparedItem, Failure> {
        let item = item::prepare(&self.container, document.as_bytes())?.indexed(directive);
        if item.epk != self.epk {
            return Err(Failure::partition_key("A pre-trigger changed the partition key of the item."));
        }
        Ok(item)
    }
}

/// Whether a trigger that was defined for `defined` may be named by this operation. An upsert is an operation of its
/// own, whether it creates or replaces.
fn covers(defined: TriggerOperation, on: On) -> bool {
    match defined {
        TriggerOperation::All => true,
        TriggerOperation::Create => on == On::Create,
        TriggerOperation::Update | TriggerOperation::Replace => on == On::Replace,
        TriggerOperation::Delete => on == On::Delete,
        TriggerOperation::Upsert => on == On::Upsert,
    }
}
