//! A logical partition as seen by a script: every operation is part of one transaction.
//!
//! A refused operation leaves no trace, whatever the script does with its error. A script cannot catch an error of
//! the engine: it is recorded, and the transaction fails with it.

use crate::error::Error;
use crate::item_query::ItemQuery;
use crate::items::Refused;
use crate::limits;
use crate::partition_key::PartitionKeyError;
use crate::scheduler::NotRun;
use crate::store::Store;
use orrery_core::limits::PAGE_BYTES_MAX;
use orrery_core::{ETag, ItemId, ItemRid, ResourceKind, Timestamp};
use orrery_documents::Stamp;
use orrery_documents::batch::StepError;
use orrery_documents::catalog::Container;
use orrery_documents::changes::NotRetained;
use orrery_documents::charge::Charge;
use orrery_documents::item::{
    self, Directive, FeedScope, ItemError, ItemRow, Preconditions, PrepareError, PreparedItem, Pruning,
    TagMatch, Target, settings,
};
use orrery_keys::Epk;
use orrery_kv::{Error as EngineError, Txn};
use orrery_query::QueryError;
use orrery_query::execute::{Host as QueryHost, Limits};
use orrery_script::limits::SCRIPT_MILLIS_MAX;
use orrery_script::{
    Answer, Call, Document, Ended, Failed, Host, Operation, Refusal, ScriptContext, WriteOptions,
};
use orrery_value::Value;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

/// One attempt of a script, or of the scripts around one write.
pub struct Partition<'a, 't> {
    pub store: &'a Store,
    pub container: &'a Container,
    pub epk: &'a Epk,
    pub txn: &'a mut Txn<'t>,
    pub charge: Charge,
    /// Schema violations of the items written.
    pub warnings: u64,
    /// Bytes of text written, replaced and deleted.
    changed_bytes: usize,
    now: Timestamp,
    began: Instant,
    failure: Option<Error>,
    /// Ids by ordinal, filled by the first lookup of an ordinal without a locator.
    ids: Option<HashMap<u64, String>>,
}

/// A script's name and body.
#[derive(Clone, Debug)]
pub struct Script {
    pub name: String,
    pub body: String,
}

impl<'a, 't> Partition<'a, 't> {
    pub fn new(store: &'a Store, container: &'a Container, epk: &'a Epk, txn: &'a mut Txn<'t>) -> Self {
        let (now, began) = (store.env().now(), Instant::now());
        Self {
            store,
            container,
            epk,
            txn,
            charge: Charge::default(),
            warnings: 0,
            changed_bytes: 0,
            now,
            began,
            failure: None,
            ids: None,
        }
    }

    /// Runs a script; an engine error takes precedence over the script's own.
    pub fn run(&mut self, script: &Script, call: Call<'_>, values: &str) -> Result<Ended, Refused> {
        let began = self.began;
        let self_link = self.container.self_link().to_owned();
        let setting = ScriptContext {
            name: &script.name,
            self_link: &self_link,
            alt_link: self.container.path(),
            values,
            now_ms: self.now.millis(),
            seed: self.store.env().random_u64(),
            limits: orrery_script::Limits::default(),
            elapsed: Rc::new(move || began.elapsed().as_millis() as u64),
        };
        let scripts = self.store.scripts().clone();
        let ended = scripts.run(&script.body, call, &setting, self);
        match (self.failure.take(), ended) {
            (Some(failure), _) => Err(failure.into()),
            (None, Ok(ended)) => Ok(ended),
            (None, Err(Failed { error, log })) => {
                Err(Refused { script_log: log, ..Error::Script(error).into() })
            }
        }
    }

    /// The time and etag of a new version.
    pub fn stamp(&self) -> Stamp {
        Stamp { now: self.now, ..self.store.stamp() }
    }

    pub fn pay(&mut self, charge: Charge) {
        self.charge = [self.charge, charge].into_iter().sum();
    }

    fn perform(&mut self, operation: Operation<'_>) -> Result<Answer, Error> {
        match operation {
            Operation::Create { body, options } => {
                let (item, stamp) = (self.prepared(body, options)?, self.stamp());
                self.write(body.len(), |txn, container, store| {
                    item::create(txn, container, &item, stamp, || store.next_ordinal())
                })
            }
            Operation::Upsert { body, options } => {
                let (item, stamp, conditions) =
                    (self.prepared(body, options)?, self.stamp(), conditions(options));
                self.write(body.len(), |txn, container, store| {
                    item::upsert(txn, container, &item, conditions, stamp, || store.next_ordinal())
                })
            }
            Operation::Replace { document, body, options } => {
                let (item, target, stamp) =
                    (self.prepared(body, options)?, self.target(document)?, self.stamp());
                self.write(body.len(), |txn, container, _| {
                    item::replace(txn, container, &target, &item, conditions(options), stamp)
                })
            }
            Operation::Delete { document, options } => {
                let (target, stamp) = (self.target(document)?, self.stamp());
                let deleted = self.write(0, |txn, container, _| {
                    item::delete(txn, container, &target, conditions(options), stamp)
                })?;
                Ok(Answer { json: None, ..deleted })
            }
            Operation::Read { document } => self.read(document),
            Operation::Query { question, items_max, continuation } => {
                self.query(question, items_max, continuation)
            }
        }
    }

    /// One change; `counted` is the part of its text that the script was already charged for.
    fn write(
        &mut self,
        counted: usize,
        change: impl FnOnce(&mut Txn<'t>, &Container, &Store) -> Result<item::Effect, item::ItemError>,
    ) -> Result<Answer, Error> {
        if self.changed_bytes > limits::SCRIPT_CHANGED_BYTES_MAX {
            let mb_max = limits::SCRIPT_CHANGED_BYTES_MAX / 1024 / 1024;
            return Err(Error::ScriptChangesTooMuch { mb_max });
        }
        let effect = self.txn.part(|txn| change(txn, self.container, self.store))?;
        self.pay(effect.charge);
        self.warnings += effect.warnings;
        self.changed_bytes += counted + effect.replaced_bytes;
        Ok(Answer { held_bytes: effect.replaced_bytes, ..self.answer(&effect.item) })
    }

    fn read(&mut self, document: Document<'_>) -> Result<Answer, Error> {
        let target = self.target(document)?;
        let found = item::read(&*self.txn, self.container, &target, self.now)?;
        let item = found.ok_or(item::ItemError::Missing)?;
        self.pay(Charge::point_read(item.text_length()));
        Ok(self.answer(&item))
    }

    fn answer(&self, item: &ItemRow) -> Answer {
        Answer { json: Some(json(item, self.container)), ..Answer::default() }
    }

    /// Prepares an item and checks that it belongs to this partition.
    fn prepared(&self, body: &str, options: WriteOptions<'_>) -> Result<PreparedItem, Error> {
        let item = item::prepare(self.container, body.as_bytes())?.indexed(directive(options)?);
        if item.epk != *self.epk {
            return Err(Error::PartitionKey(PartitionKeyError::Other(
                "Requests originating from scripts cannot reference partition keys other than the one for which client request was submitted.",
            )));
        }
        Ok(item)
    }

    fn target(&mut self, document: Document<'_>) -> Result<Target, Error> {
        let missing = || Error::Item(item::ItemError::Missing);
        let id = match document {
            Document::Id(id) => id.to_owned(),
            Document::Rid(rid) => {
                let rid = ItemRid::parse(rid).map_err(|_| missing())?;
                if rid.container != self.container.rid() || rid.kind != ResourceKind::Item {
                    return Err(missing());
                }
                self.id_of(rid.ordinal())?.ok_or_else(missing)?
            }
        };
        Ok(Target { epk: self.epk.clone(), id: ItemId::parse(&id)? })
    }

    /// The id of the item with this ordinal. In a container without indexes this scans the partition once; the
    /// remembered ids may be stale, so each is verified.
    fn id_of(&mut self, ordinal: u64) -> Result<Option<String>, Error> {
        if self.container.generations().is_automatic() && !self.container.generations().rules().is_none() {
            return Ok(item::id_of(&*self.txn, self.container, self.epk, ordinal)?);
        }
        if self.ids.is_none() {
            let max = limits::SCRIPT_ORDINALS_MAX;
            self.ids = Some(item::ids_by_ordinal(&*self.txn, self.container, self.epk, max)?);
        }
        if let Some(id) = self.ids.as_ref().and_then(|ids| ids.get(&ordinal)) {
            let target = Target { epk: self.epk.clone(), id: ItemId::parse(id)? };
            let found = item::read(&*self.txn, self.container, &target, self.now)?;
            if found.is_some_and(|item| item.ordinal() == ordinal) {
                return Ok(Some(id.clone()));
            }
        }
        Ok(item::id_of(&*self.txn, self.container, self.epk, ordinal)?)
    }

    /// Sees the script's own writes. The indexes do not, so they are used only before its first write.
    fn query(
        &mut self,
        question: &str,
        items_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer, Error> {
        let (store, container) = (self.store, self.container);
        let request = store.plan_cache().read(question.as_bytes())?;
        let seal = store.tokens().of_query(container.number(), request.spec.fingerprint_of("script"));
        let resume = continuation.map(|token| seal.unseal(token)).transpose()?;
        let limits = Limits { items: items_max.unwrap_or(usize::MAX), bytes: PAGE_BYTES_MAX };
        let host = InTime { store, now_ms: self.now.millis(), began: self.began, asked: Instant::now() };
        let query = request.prepare(store.parse_cache(), &settings(container))?;
        let found = ItemQuery {
            store,
            state: &*self.txn,
            container,
            scope: &FeedScope::Partition(self.epk.clone()),
            spec: &request.spec,
            query: &query,
            pruning: &Pruning::of(&query.prepared, &request.spec.parameters, container),
            is_indexed: self.txn.is_as_durable(),
            statistics: None,
        }
        .page(&host, resume.as_deref(), limits)?;
        self.pay(Charge::page(&found));
        let rows = String::from_utf8_lossy(&found.rows);
        let continuation = found.next.as_deref().map(|state| seal.seal(state));
        Ok(Answer { json: Some(format!("[{rows}]")), continuation, held_bytes: 0 })
    }
}

impl Host for Partition<'_, '_> {
    fn perform(&mut self, operation: Operation<'_>) -> Result<Answer, Refusal> {
        if self.failure.is_some() {
            return Err(Refusal { number: 500, message: "The store failed.".to_owned() });
        }
        Partition::perform(self, operation).map_err(|error| {
            self.pay(Charge::refused());
            let refusal = Refusal { number: error_number(&error), message: error.to_string() };
            if refusal.number >= 500 {
                self.failure = Some(error);
            }
            refusal
        })
    }
}

/// An item with its system members.
pub fn json(item: &ItemRow, container: &Container) -> String {
    let mut text = Vec::with_capacity(item.text_length() + 256);
    item.write_json(container, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn conditions(options: WriteOptions<'_>) -> Preconditions {
    let if_match = options.etag.map(|tag| TagMatch::Tag(ETag::parse(tag)));
    Preconditions { if_match, if_none_match: None }
}

fn directive(options: WriteOptions<'_>) -> Result<Directive, Error> {
    match options.index_action.map(str::to_ascii_lowercase).as_deref() {
        None | Some("default") => Ok(Directive::Default),
        Some("include") => Ok(Directive::Include),
        Some("exclude") => Ok(Directive::Exclude),
        Some(other) => Err(Error::Invalid(format!(
            "The option indexAction is '{other}'; choose default, include or exclude."
        ))),
    }
}

/// The error number that a script sees: the HTTP status of the same error on the wire.
fn error_number(error: &Error) -> u32 {
    match error {
        Error::ContainerGone | Error::ContainerMissing { .. } => 404,
        Error::RateTooLarge { .. } | Error::MetadataRateTooLarge { .. } | Error::Busy => 429,
        Error::NotRun(NotRun::Busy | NotRun::NoMemory) => 429,
        Error::Stopping => 503,
        Error::Engine(error) => engine_number(error),
        Error::NotRun(NotRun::BrokeOff(_)) | Error::BrokeOff(_) | Error::Internal(_) => 500,
        Error::Name(_)
        | Error::PartitionKey(_)
        | Error::Continuation(_)
        | Error::NeedsMerging { .. }
        | Error::AggregateWithoutValue
        | Error::CrossPartitionDisabled
        | Error::PositionAhead { .. }
        | Error::Catalog(_)
        | Error::Subresource(_)
        | Error::Script(_)
        | Error::Invalid(_) => 400,
        Error::NotRetained(NotRetained::Store(error)) => engine_number(error),
        Error::NotRetained(_) => 400,
        Error::Prepare(error) => prepare_number(error),
        Error::Item(error) | Error::Step(StepError::Item(error)) => item_number(error),
        Error::Step(StepError::TooMuch) | Error::ScriptChangesTooMuch { .. } => 413,
        Error::Query(error) => query_number(error),
        Error::ScriptTooLong => 408,
    }
}

fn item_number(error: &ItemError) -> u32 {
    match error {
        ItemError::Exists | ItemError::NotUnique => 409,
        ItemError::Missing => 404,
        ItemError::Changed | ItemError::ConditionFails => 412,
        ItemError::PartitionKeyChanged | ItemError::Schema(_) | ItemError::Patch(_) => 400,
        ItemError::Condition(error) => query_number(error),
        ItemError::Patched(error) => prepare_number(error),
        ItemError::PartitionFull { .. } => 403,
        ItemError::Store(error) => engine_number(error),
    }
}

fn prepare_number(error: &PrepareError) -> u32 {
    if matches!(error, PrepareError::TooLarge(_)) { 413 } else { 400 }
}

fn query_number(error: &QueryError) -> u32 {
    match error {
        QueryError::Text(_) | QueryError::Refused(_) => 400,
        QueryError::TooLong(_) => 408,
        QueryError::Busy(_) => 429,
        QueryError::Storage(_) => 500,
    }
}

fn engine_number(error: &EngineError) -> u32 {
    if matches!(error, EngineError::Corrupt(_)) { 500 } else { 503 }
}

/// The host of a query in a script: the query ends with the script's time limit.
struct InTime<'a> {
    store: &'a Store,
    now_ms: u64,
    began: Instant,
    asked: Instant,
}

impl QueryHost for InTime<'_> {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn random(&self) -> f64 {
        (self.store.env().random_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn elapsed_ms(&self) -> u64 {
        let is_over = self.began.elapsed().as_millis() as u64 > SCRIPT_MILLIS_MAX;
        if is_over { u64::MAX } else { self.asked.elapsed().as_millis() as u64 }
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("The user-defined function '{name}' is not there; create it first.")))
    }
}
