//! A container whose indexing policy changes, and its items found in three ways: by a scan, by queries that may use
//! indexes, and by walking along the indexes themselves.

use crate::shop::{Shop, prepared};
use orrery_document_store::{Scope, WriteError};
use orrery_documents::catalog::{self, CatalogError, Container};
use orrery_documents::definition::ContainerDefinition;
use orrery_documents::index;
use orrery_documents::item::{self, FeedScope, ItemError, Items, Preconditions, Target};
use orrery_documents::spaces::{INDEX, SPACES};
use orrery_keys::{Epk, epk};
use orrery_kv::{KeyRange, MemoryEngine, Order, Read, Sync, Txn};
use orrery_query::access::{IndexOf, Indexes, Path, Span, Step};
use orrery_query::execute::{Collection, Host, Limits, Start, page};
use orrery_query::plan::Rules;
use orrery_query::{QueryError, prepare};
use orrery_value::Value;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows in the space `index` that tell of indexes, by their tag.
pub const PLACES: u8 = 4;
pub const ENTRIES: u8 = 5;
pub const LOCAL_ENTRIES: u8 = 6;
pub const TALLIES: u8 = 7;
pub const SUCCESSORS: u8 = 8;

pub struct Shelf {
    pub shop: Shop,
    pub engine: MemoryEngine,
}

/// What an item says of itself; all that queries ask for follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Book {
    pub number: u64,
    pub version: u64,
}

impl Book {
    pub fn new(number: u64) -> Self {
        Self { number, version: 0 }
    }

    pub fn pk(self) -> u64 {
        self.number % 13
    }

    pub fn rank(self) -> Option<u64> {
        let mixed = self.number * 31 + self.version * 7;
        (!mixed.is_multiple_of(9)).then_some(mixed % 101)
    }

    pub fn tags(self) -> BTreeSet<String> {
        let tags = [self.number / 2, self.number + self.version].map(|tag| format!("t{}", tag % 11));
        tags.into_iter().skip((self.version % 3) as usize).collect()
    }

    pub fn text(self) -> String {
        let Self { number, version } = self;
        let mut text = json!({
            "id": number.to_string(), "pk": self.pk(), "email": number, "n": number, "version": version,
            "kind": format!("k{}", (number + version) % 5), "tags": self.tags(),
            "info": {"even": number.is_multiple_of(2)},
        });
        if let Some(rank) = self.rank() {
            text["rank"] = rank.into();
        }
        text.to_string()
    }
}

/// A policy, by what it names.
pub fn policy(included: &[&str], excluded: &[&str], composites: &[[(&str, &str); 2]]) -> serde_json::Value {
    let paths = |paths: &[&str]| paths.iter().map(|path| json!({"path": path})).collect::<Vec<_>>();
    let part = |(path, order): &(&str, &str)| json!({"path": path, "order": order});
    let composites: Vec<Vec<_>> = composites.iter().map(|parts| parts.iter().map(part).collect()).collect();
    json!({"includedPaths": paths(included), "excludedPaths": paths(excluded), "compositeIndexes": composites})
}

pub fn nothing() -> serde_json::Value {
    json!({"indexingMode": "none", "automatic": false})
}

pub fn everything() -> serde_json::Value {
    policy(&["/*"], &[], &[])
}

/// All but the ranks, which are in the composite indexes.
pub fn composites() -> serde_json::Value {
    let by_rank = [("/kind", "ascending"), ("/rank", "descending")];
    policy(&["/*"], &["/rank/?"], &[by_rank, [("/rank", "ascending"), ("/n", "ascending")]])
}

pub fn named() -> serde_json::Value {
    let by_number = [("/kind", "ascending"), ("/n", "descending")];
    policy(&["/kind/?", "/rank/?", "/tags/[]/?"], &["/*"], &[by_number])
}

impl Shelf {
    pub fn new(policy: serde_json::Value) -> Self {
        let engine = MemoryEngine::new(&SPACES);
        let shelf = Self { shop: Shop::new(engine.clone(), Sync::Data, 7), engine };
        shelf.create("c", policy);
        shelf
    }

    /// What a restart finds after a power cut.
    pub fn reopened(&self) -> Self {
        self.shop.store.close();
        let (engine, env) = (self.engine.crash(0), self.shop.store.env().clone());
        Self { shop: Shop::over(engine.clone(), Sync::Data, env), engine }
    }

    pub fn create(&self, name: &str, policy: serde_json::Value) {
        let definition = ContainerDefinition::parse(definition(name, policy)).unwrap();
        let stamp = self.shop.stamp();
        self.change(|txn| catalog::create_container(txn, "shop", &definition, None, stamp).map(drop))
            .unwrap();
    }

    pub fn set_policy(&self, policy: serde_json::Value) -> Arc<Container> {
        self.try_policy(policy).unwrap();
        self.container()
    }

    pub fn try_policy(&self, policy: serde_json::Value) -> Result<(), WriteError<CatalogError>> {
        let (body, stamp, always) = (definition("c", policy), self.shop.stamp(), Preconditions::default());
        self.change(|txn| catalog::replace_container(txn, "shop", "c", body.clone(), always, stamp).map(drop))
    }

    fn change(
        &self,
        body: impl Fn(&mut Txn<'_>) -> Result<(), CatalogError>,
    ) -> Result<(), WriteError<CatalogError>> {
        let store = &self.shop.store;
        let done = store.write_blocking(Scope::Catalog, body).map(drop);
        store.refresh_catalog().unwrap();
        done
    }

    pub fn container(&self) -> Arc<Container> {
        self.shop.container("c")
    }

    /// Creates items, those of a partition in one commit.
    pub fn fill(&self, numbers: impl Iterator<Item = u64>) {
        let container = self.container();
        let mut partitions: BTreeMap<u64, Vec<Book>> = BTreeMap::new();
        numbers.map(Book::new).for_each(|book| partitions.entry(book.pk()).or_default().push(book));
        for books in partitions.values() {
            let texts: Vec<String> = books.iter().map(|book| book.text()).collect();
            self.create_all(&container, &texts);
        }
    }

    /// Creates items of one partition in one commit.
    pub fn create_all(&self, container: &Container, texts: &[String]) {
        let items: Vec<_> = texts.iter().map(|text| prepared(container, text)).collect();
        let ordinals: Vec<u64> = items.iter().map(|_| self.shop.store.next_ordinal()).collect();
        let (stamp, number) = (self.shop.stamp(), container.number());
        let scope = Scope::Partition { container: number, epk: items[0].epk.as_bytes() };
        let create = |txn: &mut Txn<'_>| {
            items.iter().zip(&ordinals).try_for_each(|(item, ordinal)| {
                item::create(txn, container, item, stamp, || *ordinal).map(drop)
            })
        };
        self.shop.store.write_blocking(scope, create).unwrap();
    }

    pub fn put(&self, book: Book) -> Result<(), WriteError<ItemError>> {
        let container = self.container();
        self.shop.upsert(&container, &prepared(&container, &book.text())).map(drop)
    }

    pub fn remove(&self, book: Book) -> Result<(), WriteError<ItemError>> {
        let container = self.container();
        self.shop.delete(&container, &target(&container, book)).map(drop)
    }

    /// The items that are there, by their ordinals.
    pub fn books(&self) -> BTreeMap<u64, Book> {
        self.over(&whole(), |items| books(&items))
    }

    /// What `look` makes of the items in a scope, without indexes.
    fn over<T>(&self, scope: &FeedScope, look: impl FnOnce(Items<'_>) -> T) -> T {
        let (snapshot, container) = (self.shop.store.snapshot(), self.container());
        let host = Now(self.shop.store.env().now().millis());
        look(Items::new(&*snapshot, &container, scope, &host).unwrap())
    }

    /// What `look` makes of the indexes over a scope; `None` where a query would have to scan.
    pub fn indexes<T>(&self, scope: &FeedScope, look: impl FnOnce(Option<&dyn Indexes>) -> T) -> T {
        self.over(scope, |items| look(items.indexed().unwrap().indexes()))
    }

    /// Whether queries over all items may use the index over a path.
    pub fn has(&self, steps: &[&str]) -> bool {
        self.indexes(&whole(), |indexes| indexes.is_some_and(|indexes| indexes.has(&path(steps))))
    }

    pub fn has_composite(&self, parts: &[(&[&str], bool)]) -> bool {
        let wanted: Vec<(Path, bool)> = parts.iter().map(|(steps, down)| (path(steps), *down)).collect();
        self.indexes(&whole(), |indexes| {
            indexes.is_some_and(|indexes| indexes.composites().contains(&wanted))
        })
    }

    /// How many documents a query over all items reads.
    pub fn documents_read(&self, query: &str) -> u64 {
        let plan = prepare(query, &[], Rules::On).unwrap().plan;
        let host = Now(self.shop.store.env().now().millis());
        let limits = Limits { items: usize::MAX, bytes: usize::MAX };
        self.over(&whole(), |items| {
            let items = items.indexed().unwrap();
            page(&plan, &items, &host, None, None, limits).unwrap().metrics.documents_read
        })
    }

    /// The rows of a query over a scope, sorted, and how many documents it reads: with indexes, and without.
    pub fn asked(&self, scope: &FeedScope, query: &str) -> [(Vec<String>, u64); 2] {
        let plan = prepare(query, &[], Rules::On).unwrap().plan;
        let host = Now(self.shop.store.env().now().millis());
        let limits = Limits { items: usize::MAX, bytes: usize::MAX };
        [true, false].map(|is_indexed| {
            self.over(scope, |items| {
                let items = if is_indexed { items.indexed().unwrap() } else { items };
                let read = page(&plan, &items, &host, None, None, limits).unwrap().metrics.documents_read;
                let mut rows = answer(query, &items, &host, usize::MAX);
                rows.sort();
                (rows, read)
            })
        })
    }

    /// How much is indexed as the policy asks, in percent.
    pub fn progress(&self) -> u64 {
        index::progress(&*self.shop.store.snapshot(), &self.container()).unwrap()
    }

    /// How many rows of a kind the container has.
    pub fn rows(&self, tag: u8) -> usize {
        rows_of(&*self.shop.store.snapshot(), self.container().number(), Some(tag))
    }

    /// Queries that may use indexes answer as a scan does, and the indexes have what the items ask for.
    pub fn agree(&self) {
        let host = Now(self.shop.store.env().now().millis());
        agree(&*self.shop.store.snapshot(), &self.container(), &host);
    }

    /// Every row is what the items ask for, by the check that operators use.
    pub fn check(&self) {
        let checked = index::check_container(&*self.shop.store.snapshot(), &self.container()).unwrap();
        assert!(checked.findings.is_empty(), "{:?}", checked.findings);
    }
}

type Entries = fn(&Book) -> usize;

/// Paths that items have, and how many entries an item has in the index over each.
const PATHS: [(&[&str], Entries); 6] = [
    (&["kind"], |_| 1),
    (&["rank"], |book| usize::from(book.rank().is_some())),
    (&["tags", "[]"], |book| book.tags().len()),
    (&["n"], |_| 1),
    (&["info", "even"], |_| 1),
    (&["nowhere"], |_| 0),
];

/// Queries, and whether the order of their rows counts. Every kind of question that an index answers.
const QUERIES: [(&str, bool); 18] = [
    ("SELECT VALUE c.id FROM c WHERE c.kind = 'k2'", false),
    ("SELECT VALUE c.id FROM c WHERE c.rank >= 10 AND c.rank < 30", false),
    ("SELECT VALUE c.id FROM c WHERE c.kind IN ('k1', 'k3') AND c.rank > 70", false),
    ("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 't4')", false),
    ("SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.rank) OR c.info.even = false AND c.n < 40", false),
    ("SELECT VALUE c.n FROM c WHERE c.kind = 'k1' ORDER BY c.n", true),
    ("SELECT VALUE c.n FROM c WHERE c.kind = 'k1' ORDER BY c.n DESC", true),
    ("SELECT VALUE c.n FROM c WHERE c.rank > 50 ORDER BY c.rank, c.n", true),
    ("SELECT TOP 7 VALUE c.n FROM c ORDER BY c.n DESC", true),
    ("SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'k3'", true),
    ("SELECT VALUE {least: MIN(c.rank), most: MAX(c.rank), all: COUNT(1)} FROM c", true),
    ("SELECT VALUE COUNT(1) FROM c", true),
    ("SELECT VALUE MIN(c.rank) FROM c", true),
    ("SELECT VALUE MAX(c.rank) FROM c WHERE c.rank < 50", true),
    ("SELECT VALUE MIN(c.n) FROM c WHERE c.kind = 'k2'", true),
    (
        "SELECT VALUE [{\"item\": MAX(c.n), \"item2\": {\"max\": MAX(c.n), \"count\": COUNT(c.n)}}] FROM c",
        true,
    ),
    ("SELECT VALUE c.n FROM c WHERE c.kind IN ('k1', 'k3') ORDER BY c.n", true),
    ("SELECT DISTINCT VALUE c.kind FROM c", false),
];

pub fn whole() -> FeedScope {
    FeedScope::Between(Epk::start(), Epk::end())
}

/// Over a state of the container, queries answer as a scan does, and the indexes have what the items ask for.
pub fn agree(state: &dyn Read, container: &Container, host: &dyn Host) {
    for scope in [whole(), FeedScope::Partition(key(container, 3))] {
        let scanned = Items::new(state, container, &scope, host).unwrap();
        let indexed = Items::new(state, container, &scope, host).unwrap().indexed().unwrap();
        let books = books(&scanned);
        // Long answers have a few pages each.
        let page_items = (books.len() / 3).max(10);
        for (query, is_ordered) in QUERIES {
            let answer = |items: &Items<'_>| answer(query, items, host, page_items);
            let (mut expected, mut found) = (answer(&scanned), answer(&indexed));
            if !is_ordered {
                expected.sort();
                found.sort();
            }
            assert_eq!(found, expected, "{query} in {scope:?}");
        }
        if let Some(indexes) = indexed.indexes() {
            walks_agree(indexes, &books);
        }
    }
}

fn walks_agree(indexes: &dyn Indexes, books: &BTreeMap<u64, Book>) {
    for (steps, entries) in PATHS {
        if indexes.has(&path(steps)) {
            assert_eq!(walk(indexes, &IndexOf::Path(path(steps))), expected(books, entries), "{steps:?}");
        }
    }
    for parts in indexes.composites() {
        let index = IndexOf::Composite(parts.clone());
        assert_eq!(walk(indexes, &index), expected(books, |_| 1), "{parts:?}");
    }
}

fn books(items: &Items<'_>) -> BTreeMap<u64, Book> {
    let mut books = BTreeMap::new();
    let all = items.scan(&Start::Beginning, &mut |found| {
        let number = |name: &str| found.root.member(name).as_i64().unwrap() as u64;
        books.insert(found.ordinal, Book { number: number("n"), version: number("version") });
        ControlFlow::Continue(())
    });
    all.unwrap();
    books
}

/// The rows of a query, page by page.
fn answer(query: &str, items: &Items<'_>, host: &dyn Host, page_items: usize) -> Vec<String> {
    let limits = Limits { items: page_items, bytes: usize::MAX };
    let plan = prepare(query, &[], Rules::On).unwrap().plan;
    let (mut rows, mut resume): (Vec<String>, Option<Vec<u8>>) = (Vec::new(), None);
    loop {
        let found = page(&plan, items, host, resume.as_deref(), None, limits).unwrap();
        let text = format!("[{}]", String::from_utf8(found.rows).unwrap());
        let page: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        rows.extend(page.iter().map(ToString::to_string));
        assert!(rows.len() < 100_000, "{query} does not end");
        match found.next {
            Some(next) => resume = Some(next),
            None => return rows,
        }
    }
}

/// The ordinals of all entries of an index, sorted.
pub fn walk(indexes: &dyn Indexes, index: &IndexOf) -> Vec<u64> {
    let mut entries = indexes.entries(index, &Span::all(), false, None).unwrap();
    let mut found = Vec::new();
    while let Some(entry) = entries.next().unwrap() {
        found.push(entry.ordinal);
    }
    found.sort_unstable();
    found
}

fn expected(books: &BTreeMap<u64, Book>, entries: impl Fn(&Book) -> usize) -> Vec<u64> {
    books.iter().flat_map(|(ordinal, book)| std::iter::repeat_n(*ordinal, entries(book))).collect()
}

pub fn path(steps: &[&str]) -> Path {
    let step = |step: &&str| if *step == "[]" { Step::Each } else { Step::Member((*step).to_owned()) };
    steps.iter().map(step).collect()
}

pub fn key(container: &Container, pk: u64) -> Epk {
    epk(container.hashing(), &[Value::parse(&pk.to_string()).unwrap()])
}

pub fn target(container: &Container, book: Book) -> Target {
    let item = prepared(container, &book.text());
    Target { epk: item.epk, id: item.id }
}

/// Rows of a container in the space `index`; of one kind if a tag is given.
pub fn rows_of(state: &dyn Read, container: u32, tag: Option<u8>) -> usize {
    let prefix = [&container.to_be_bytes()[..], &tag.map_or(Vec::new(), |tag| vec![tag])].concat();
    let rows = state.range(INDEX, &KeyRange::prefix(&prefix), Order::Ascending);
    // Successors tell of what is past; they go when the log is trimmed.
    rows.filter(|row| row.as_ref().is_ok_and(|(key, _)| key[4] != SUCCESSORS || tag == Some(SUCCESSORS)))
        .count()
}

fn definition(name: &str, policy: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    let body = json!({
        "id": name,
        "partitionKey": {"paths": ["/pk"]},
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}]},
        "indexingPolicy": policy,
    });
    body.as_object().unwrap().clone()
}

/// A host at the store's time.
pub struct Now(pub u64);

impl Host for Now {
    fn now_ms(&self) -> u64 {
        self.0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("no function {name}")))
    }
}
