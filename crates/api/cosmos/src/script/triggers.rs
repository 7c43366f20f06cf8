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
use orrery_documents::children::{self, Kind, Owner, Trigger, TriggerOperation, TriggerTime};
use orrery_documents::item::{self, Directive, Effect, Preconditions, Prepared, Target};
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
    let (before, after) = (
        named(cosmos, request, container, &header::PRE_TRIGGER_INCLUDE, TriggerTime::Pre)?,
        named(cosmos, request, container, &header::POST_TRIGGER_INCLUDE, TriggerTime::Post)?,
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
        move |txn: &mut orrery_store::Txn<'_>| {
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

/// The triggers that a header names, in its order.
fn named(
    cosmos: &Cosmos,
    request: &Request,
    container: &Container,
    header: &HeaderName,
    time: TriggerTime,
) -> Result<Vec<(Trigger, Script)>, Failure> {
    let list = request.header_or_refuse(header)?.unwrap_or_default();
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > limits::WRITE_TRIGGERS_MAX {
        let max = limits::WRITE_TRIGGERS_MAX;
        return Err(Failure::bad_request(format!("The header {header} names more than {max} triggers.")));
    }
    let (snapshot, owner) = (cosmos.store().snapshot(), Owner::Container(container.rid()));
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let child = children::find(&*snapshot, &owner, Kind::Trigger, name)?;
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
        found.push((trigger, Script { name: child.name.to_string(), body: child.script().to_owned() }));
    }
    Ok(found)
}

/// One write with its triggers; it may be run more than once.
struct Job {
    cosmos: Cosmos,
    container: Arc<Container>,
    epk: Epk,
    before: Vec<(Trigger, Script)>,
    after: Vec<(Trigger, Script)>,
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
        txn: &mut orrery_store::Txn<'_>,
        text: &Text,
        write: &Write,
    ) -> Result<Done, (Failure, String)> {
        let mut partition = Partition::new(&self.cosmos, &self.container, &self.epk, txn);
        let mut log = String::new();
        let quiet = |failure: Failure| (failure, String::new());
        let (on, happens) = self.occasion(&mut partition, text, write).map_err(quiet)?;
        let mut document = String::from_utf8_lossy(&text.bytes).into_owned();
        for script in chosen(&self.before, happens) {
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
        for script in chosen(&self.after, happens) {
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

    /// What a trigger is told of the write, and what happens: an upsert is a create or a replace.
    fn occasion(
        &self,
        partition: &mut Partition<'_, '_>,
        text: &Text,
        write: &Write,
    ) -> Result<(On, On), Failure> {
        Ok(match write {
            Write::Create => (On::Create, On::Create),
            Write::Replace(..) => (On::Replace, On::Replace),
            Write::Delete(..) => (On::Delete, On::Delete),
            Write::Upsert(_) => {
                let item = item::prepare(&self.container, &text.bytes)?;
                let (target, now) = (Target { epk: item.epk, id: item.id }, partition.stamp().now);
                let there = item::read(&*partition.txn, &self.container, &target, now)?;
                (On::Upsert, if there.is_some() { On::Replace } else { On::Create })
            }
        })
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
    fn prepared(&self, document: &str, directive: Directive) -> Result<Prepared, Failure> {
        let item = item::prepare(&self.container, document.as_bytes())?.indexed(directive);
        if item.epk != self.epk {
            return Err(Failure::partition_key("A pre-trigger changed the partition key of the item."));
        }
        Ok(item)
    }
}

/// The triggers that are meant for what happens.
fn chosen(triggers: &[(Trigger, Script)], happens: On) -> impl Iterator<Item = &Script> {
    let is_meant = move |operation: TriggerOperation| match operation {
        TriggerOperation::All => true,
        TriggerOperation::Create => happens == On::Create,
        TriggerOperation::Update | TriggerOperation::Replace => happens == On::Replace,
        TriggerOperation::Delete => happens == On::Delete,
    };
    triggers.iter().filter(move |(trigger, _)| is_meant(trigger.operation)).map(|(_, script)| script)
}
