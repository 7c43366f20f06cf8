//! Golden cases: files in, blueprints, refusals or plans out.
//!
//! ```text
//! === what the case shows
//! --- shop.yaml            a file, to the next line of dashes
//! --- var name=value       as --var
//! --- env production       with a plan: whose throughput
//! --- server serverless    with a plan: what kind of server; one that adds accounts
//! --- there                with a plan: a second blueprint, that the server was made from
//! --- expect               what comes of it
//! ```
//!
//! `BLESS=1 cargo test -p orrery-blueprint --test cases` rewrites what is expected.

use orrery_blueprint::{
    Blueprint, Environment, Observed, ObservedContainer, ObservedDatabase, ObservedOffer, ObservedQueue,
    ObservedStorageAccount, ObservedTable, Source, StorageAccount, Variables, plan, read,
};
use orrery_catalog::storage::SignedIdentifiers;
use orrery_documents::definition::Throughput;
use orrery_testing_golden::case_files;
use serde_json::Value;
use std::path::Path;

#[derive(Default)]
struct Case {
    title: String,
    files: Vec<Source>,
    observed: Option<String>,
    variables: Vec<(String, String)>,
    environment: Environment,
    is_serverless: bool,
    makes_accounts: bool,
    expected: String,
}

#[test]
fn formats_become_blueprints() {
    run("cases/formats", |case| shown(&read_case(case)));
}

#[test]
fn errors_have_a_position() {
    run("cases/broken", |case| match read(&case.files, &Variables::new(case.variables.clone())) {
        Ok(_) => "it was taken\n".to_owned(),
        Err(trouble) => format!("{trouble}\n"),
    });
}

#[test]
fn plans_say_what_a_server_lacks() {
    run("cases/plans", |case| {
        let wanted = read_case(case);
        let mut server =
            Observed { is_serverless: case.is_serverless, keeps_schemas: true, ..Observed::default() };
        if let Some(text) = &case.observed {
            let source = Source { name: "there.yaml".to_owned(), text: text.clone() };
            let observed =
                read(&[source], &Variables::default()).unwrap_or_else(|trouble| panic!("{trouble}"));
            if let Some(database) = &observed[0].database {
                server.databases.insert(database.to_string(), made(&observed[0], case.environment));
            }
            server.storage.accounts = observed[0].storage.iter().map(stored).collect();
        }
        server.storage.makes_accounts = case.makes_accounts;
        let plan = plan(&wanted[0], case.environment, &server);
        let steps = plan.steps.iter().map(|step| format!("{step}\n"));
        steps.chain(plan.notes.iter().map(|note| format!("note: {note}\n"))).collect()
    });
}

fn read_case(case: &Case) -> Vec<Blueprint> {
    read(&case.files, &Variables::new(case.variables.clone()))
        .unwrap_or_else(|trouble| panic!("{}: {trouble}", case.title))
}

/// The state of a server built from this blueprint, by the server's rules: without any throughput, 400 RU/s.
fn made(blueprint: &Blueprint, environment: Environment) -> ObservedDatabase {
    let offer = |throughput| ObservedOffer { rid: "offer".to_owned(), throughput };
    let shared = blueprint.capacity.throughput(environment).map(offer);
    let own = |one: &orrery_blueprint::Container| match one.capacity.throughput(environment) {
        Some(own) => Some(offer(own)),
        None if shared.is_some() => None,
        None => Some(offer(Throughput::Manual(400))),
    };
    let containers = blueprint.containers.iter().map(|one| {
        let definition = one.definition.clone();
        let (etag, schema) = ("etag".to_owned(), one.schema.clone());
        (definition.name().to_string(), ObservedContainer { definition, etag, offer: own(one), schema })
    });
    ObservedDatabase { containers: containers.collect(), offer: shared.clone() }
}

/// The account with what the blueprint has of it.
fn stored(account: &StorageAccount) -> (String, ObservedStorageAccount) {
    let tables = account.tables.iter().map(|table| {
        let policies = table.policies.clone().unwrap_or_default();
        (table.name.folded(), ObservedTable { policies })
    });
    let queues = account.queues.iter().map(|queue| {
        let metadata = queue.metadata.clone().unwrap_or_default();
        let policies = queue.policies.clone().unwrap_or_default();
        (queue.name.as_str().to_owned(), ObservedQueue { metadata, policies })
    });
    let observed = ObservedStorageAccount { tables: tables.collect(), queues: queues.collect() };
    (account.name.as_str().to_owned(), observed)
}

fn shown(blueprints: &[Blueprint]) -> String {
    let mut text = String::new();
    for blueprint in blueprints {
        text += &match &blueprint.database {
            Some(database) => format!("blueprint {} of database {database}\n", blueprint.name),
            None => format!("blueprint {}\n", blueprint.name),
        };
        text += &capacities("  ", &blueprint.capacity);
        for container in &blueprint.containers {
            text += &format!("  container {}\n", Value::Object(container.definition.to_json()));
            text += &capacities("    ", &container.capacity);
            if let Some(schema) = &container.schema {
                text += &format!("    schema {schema}\n");
            }
            for item in &container.fixtures {
                text += &format!("    item {}\n", Value::Object(item.clone()));
            }
        }
        for query in &blueprint.queries {
            text += &format!("  query {}\n", query.shown());
        }
        text += &blueprint.storage.iter().map(shown_account).collect::<String>();
        for note in &blueprint.notes {
            text += &format!("  note {note}\n");
        }
    }
    text
}

fn shown_account(account: &StorageAccount) -> String {
    let mut text = format!("  account {}\n", account.name.as_str());
    for table in &account.tables {
        text += &format!("    table {}\n", table.name.as_str());
        if !table.columns.is_empty() {
            let columns = table.columns.iter().map(|(name, edm_type)| format!("{name} {}", edm_type.name()));
            text += &format!("      columns {}\n", columns.collect::<Vec<_>>().join(", "));
        }
        text += &table.policies.iter().map(shown_policies).collect::<String>();
        for entity in &table.entities {
            text += &format!("      entity {}\n", entity.to_json());
        }
    }
    for queue in &account.queues {
        text += &format!("    queue {}\n", queue.name.as_str());
        if let Some(metadata) = &queue.metadata {
            let pairs = metadata.iter().map(|(name, value)| format!("{name}={value}"));
            text += &format!("      metadata {}\n", pairs.collect::<Vec<_>>().join(", "));
        }
        text += &queue.policies.iter().map(shown_policies).collect::<String>();
        for message in &queue.messages {
            text += &format!("      message {message}\n");
        }
    }
    text
}

fn shown_policies(policies: &SignedIdentifiers) -> String {
    format!("      access {}\n", serde_json::to_string(policies).expect("JSON"))
}

fn capacities(indent: &str, capacity: &orrery_blueprint::Capacity) -> String {
    let one = |environment: Environment| {
        capacity.get(environment).map(|wanted| format!("{indent}{environment} {wanted:?}\n"))
    };
    Environment::ALL.into_iter().filter_map(one).collect()
}

fn run(folder: &str, answer: impl Fn(&Case) -> String) {
    let bless = std::env::var_os("BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = case_files(&folder, "case");
    assert!(!files.is_empty(), "{} has no cases", folder.display());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file of cases");
        let mut blessed = String::new();
        for block in text.split("=== ").skip(1) {
            let case = parse(block);
            let found = answer(&case);
            if !bless {
                assert_eq!(found, case.expected, "{}: {}", file.display(), case.title);
            }
            let (before, _) = block.split_once("--- expect\n").expect("every case expects something");
            blessed += &format!("=== {before}--- expect\n{found}\n");
        }
        if bless {
            let head = text.split("=== ").next().unwrap_or_default();
            std::fs::write(&file, format!("{head}{}\n", blessed.trim_end())).expect("it can be written");
        }
    }
}

fn parse(block: &str) -> Case {
    let (title, rest) = block.split_once('\n').expect("a title");
    let mut case = Case { title: title.to_owned(), ..Case::default() };
    for part in rest.split("--- ").skip(1) {
        let (head, text) = part.split_once('\n').expect("a line of dashes");
        match head.split_once(' ').unwrap_or((head, "")) {
            ("expect", "") => case.expected = format!("{}\n", text.trim_end()),
            ("there", "") => case.observed = Some(text.to_owned()),
            ("var", given) => {
                let (name, value) = given.split_once('=').expect("name=value");
                case.variables.push((name.to_owned(), value.to_owned()));
            }
            ("env", name) => case.environment = name.parse().expect("an environment"),
            ("server", "serverless") => case.is_serverless = true,
            ("server", "adds accounts") => case.makes_accounts = true,
            ("fixture", name) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
                let text = std::fs::read_to_string(path).expect("a fixture");
                case.files.push(Source { name: name.to_owned(), text });
            }
            (name, "") => case.files.push(Source { name: name.to_owned(), text: text.to_owned() }),
            (head, _) => panic!("{}: '{head}' is not understood", case.title),
        }
    }
    case
}
