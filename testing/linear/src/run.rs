//! Making histories: tasks on one item of a real store, whose disk may refuse a write now and then.

use crate::history::{Answer, Call, Event, History, Seen, Tag};
use orrery_core::{DatabaseName, ETag, Env, Timestamp};
use orrery_document_store::{Scope, Store, Sync, Txn, WriteError};
use orrery_documents::Stamp;
use orrery_documents::batch::{self, Action, Budget, Deps, Step, StepError};
use orrery_documents::catalog::{self, Container};
use orrery_documents::definition::ContainerDefinition;
use orrery_documents::item::{
    self, Change, Directive, ItemError, ItemRow, Preconditions, TagMatch, Target, prepare,
};
use orrery_documents::patch::PatchRequest;
use orrery_documents::spaces::SPACES;
use orrery_kv::{Fault, MemoryEngine};
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_value::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub seed: u64,
    /// Histories that are made at once on one store.
    pub histories: usize,
    pub tasks: usize,
    pub calls: usize,
    /// Whether the disk refuses a write now and then.
    pub faults: bool,
}

/// Makes histories, each of an item of its own, on a store of their own.
pub async fn run(options: Options) -> Result<Vec<History>, String> {
    let place = Arc::new(Place::open(options).await?);
    let mut tasks = Vec::new();
    for history in 0..options.histories {
        for task in 0..options.tasks {
            let seed = options.seed ^ ((history as u64) << 32) ^ ((task as u64) << 16);
            tasks.push((history, tokio::spawn(calls(place.clone(), history, seed, options.calls))));
        }
    }
    let mut histories = vec![History::new(); options.histories];
    for (history, task) in tasks {
        histories[history].extend(task.await.map_err(|error| error.to_string())?);
    }
    let store = place.store.clone();
    tokio::task::spawn_blocking(move || store.close()).await.map_err(|error| error.to_string())?;
    Ok(histories)
}

struct Place {
    store: Store,
    engine: MemoryEngine,
    container: Arc<Container>,
    moments: AtomicU64,
    faults: bool,
}

impl Place {
    async fn open(options: Options) -> Result<Self, String> {
        let engine = MemoryEngine::new(&SPACES);
        let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), options.seed);
        let store = Store::standalone(engine.clone(), env, Sync::Data).map_err(|e| e.to_string())?;
        let container = make_container(&store).await?;
        Ok(Self { store, engine, container, moments: AtomicU64::new(1), faults: options.faults })
    }

    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }

    fn stamp(&self, tag: Tag) -> Stamp {
        Stamp { now: self.store.env().now(), etag: ETag::from_u128(tag), partition_bytes_max: u64::MAX }
    }

    fn new_tag(&self) -> Tag {
        self.store.env().random_u128()
    }
}

async fn make_container(store: &Store) -> Result<Arc<Container>, String> {
    let tag = |n| Stamp { now: store.env().now(), etag: ETag::from_u128(n), partition_bytes_max: u64::MAX };
    let name = DatabaseName::parse("d").map_err(|e| e.to_string())?;
    let stamp = tag(1);
    let made = store.write_catalog(move |txn| catalog::create_database(txn, &name, None, stamp)).await;
    made.map_err(|e| e.to_string())?;
    let body = serde_json::json!({"id": "c", "partitionKey": {"paths": ["/pk"]}});
    let body = body.as_object().cloned().unwrap_or_default();
    let definition = ContainerDefinition::parse(body).map_err(|e| e.to_string())?;
    let stamp = tag(2);
    let create = move |txn: &mut Txn<'_>| catalog::create_container(txn, "d", &definition, None, stamp);
    store.write_catalog(create).await.map_err(|e| e.to_string())?;
    let catalog = store.catalog();
    let database = catalog.database("d").ok_or("no database")?;
    catalog.container(database.rid, "c").cloned().ok_or_else(|| "no container".to_owned())
}

/// One task: a row of calls, each recorded.
async fn calls(place: Arc<Place>, item: usize, seed: u64, count: usize) -> History {
    let random = Env::seeded(Timestamp::default(), seed);
    let (mut history, mut last) = (History::new(), 0);
    let task = Task::new(place.clone(), item);
    for _ in 0..count {
        let call = choose(&place, random.random_u64(), last);
        if place.faults && random.random_u64().is_multiple_of(24) {
            place.engine.fail_at(random.random_u64() % 3, Fault::BeforeWrite);
        }
        let called = place.moment();
        let answer = task.call(call).await;
        let answered = place.moment();
        last = match (answer, call) {
            (Answer::Shown(seen), _) => seen.tag,
            (Answer::Done, Call::Create { new } | Call::ReplaceIf { new, .. }) => new.tag,
            _ => last,
        };
        history.push(Event { call, answer, called, answered });
        if random.random_u64().is_multiple_of(3) {
            tokio::task::yield_now().await;
        }
    }
    history
}

fn choose(place: &Place, random: u64, last: Tag) -> Call {
    let new = Seen { value: (random >> 8) as i64 % 1000, tag: place.new_tag() };
    match random % 16 {
        0..4 => Call::Read,
        4..7 => Call::Create { new },
        7..10 => Call::ReplaceIf { tag: last, new },
        10 => Call::Delete,
        11..14 => Call::Increment { by: 1, tag: new.tag },
        _ => Call::Increment { by: 2, tag: new.tag },
    }
}

struct Task {
    place: Arc<Place>,
    target: Target,
    body: String,
}

impl Task {
    fn new(place: Arc<Place>, item: usize) -> Self {
        let body = format!(r#"{{"id":"i{item}","pk":{item},"n":"#);
        let made = prepare(&place.container, format!("{body}0}}").as_bytes()).expect("an item of ours");
        Self { target: Target { epk: made.epk, id: made.id }, place, body }
    }

    async fn call(&self, call: Call) -> Answer {
        let outcome = match call {
            Call::Read => return self.read(),
            Call::Create { new } => self.step(Action::Create(self.item(new.value)), None, new.tag).await,
            Call::ReplaceIf { tag, new } => {
                self.step(Action::Replace(self.item(new.value)), Some(tag), new.tag).await
            }
            Call::Delete => self.step(Action::Delete, None, 0).await,
            Call::Increment { by: 1, tag } => self.step(Action::Patch(self.increment()), None, tag).await,
            Call::Increment { tag, .. } => self.twice(tag).await,
        };
        answer(call, outcome)
    }

    fn read(&self) -> Answer {
        let (snapshot, now) = (self.place.store.snapshot(), self.place.store.env().now());
        match item::read(&*snapshot, &self.place.container, &self.target, now) {
            Ok(Some(item)) => Answer::Shown(seen(&item)),
            Ok(None) => Answer::Missing,
            Err(_) => Answer::Unknown,
        }
    }

    fn item(&self, value: i64) -> item::PreparedItem {
        prepare(&self.place.container, format!("{}{value}}}", self.body).as_bytes()).expect("an item of ours")
    }

    fn increment(&self) -> Box<Change> {
        let patch = r#"[{"op":"incr","path":"/n","value":1}]"#;
        let request = PatchRequest::parse(patch).expect("a patch of ours");
        let change = Change::new(&self.place.container, request, Directive::Default);
        Box::new(change.expect("a patch of ours"))
    }

    /// As a request of its own would: each kind of write is one step.
    async fn step(&self, action: Action, tag: Option<Tag>, new: Tag) -> Outcome {
        self.batch(vec![self.one(action, tag, new)]).await
    }

    /// A batch of two increments; nobody may ever see the first alone.
    async fn twice(&self, tag: Tag) -> Outcome {
        let between = self.place.new_tag();
        let steps = [between, tag].map(|tag| self.one(Action::Patch(self.increment()), None, tag));
        self.batch(steps.into()).await
    }

    fn one(&self, action: Action, tag: Option<Tag>, new: Tag) -> Step {
        let if_match = tag.map(|tag| TagMatch::Tag(Some(ETag::from_u128(tag))));
        let conditions = Preconditions { if_match, if_none_match: None };
        Step { target: self.target.clone(), action, conditions, stamp: self.place.stamp(new) }
    }

    async fn batch(&self, steps: Vec<Step>) -> Outcome {
        let (store, container) = (&self.place.store, &*self.place.container);
        let scope = Scope::Partition { container: container.number(), epk: self.target.epk.as_bytes() };
        let body = |txn: &mut Txn<'_>| {
            let (ordinal, budget) = (|| store.next_ordinal(), Budget::default());
            let around = Deps { container, ordinal: &ordinal, host: &Still, budget: &budget };
            batch::atomic(txn, &steps, around).map_err(|culprit| culprit.error)
        };
        let mut done = store.write(scope, body).await?.value;
        Ok(done.pop())
    }
}

type Outcome = Result<Option<batch::StepOutcome>, WriteError<StepError>>;

fn answer(call: Call, outcome: Outcome) -> Answer {
    match (outcome, call) {
        (Ok(Some(batch::StepOutcome::Written(effect))), Call::Increment { .. }) => {
            Answer::Shown(seen(&effect.item))
        }
        (Ok(_), _) => Answer::Done,
        (Err(WriteError::Model(StepError::Item(ItemError::Missing))), _) => Answer::Missing,
        (Err(WriteError::Model(StepError::Item(ItemError::Exists))), _) => Answer::Exists,
        (Err(WriteError::Model(StepError::Item(ItemError::Changed))), _) => Answer::Changed,
        (Err(WriteError::Engine(_) | WriteError::Busy), _) => Answer::Unknown,
        (Err(other), call) => panic!("{call:?} was refused: {other:?}"),
    }
}

fn seen(item: &ItemRow) -> Seen {
    let value = item.member("n").and_then(|text| text.parse().ok()).expect("an item of ours has a number");
    Seen { value, tag: item.etag().as_u128() }
}

/// A world in which no time passes; no patch of ours has a condition.
struct Still;

impl Host for Still {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(name.to_owned()))
    }
}
