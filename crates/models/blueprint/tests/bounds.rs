//! No text makes the parsers panic, hang or overflow a stack: damaged files, deep ones, and ones that expand.

use orrery_blueprint::{Environment, Observed, Source, Variables, built_in, plan, read};
use proptest::prelude::*;
use std::path::Path;

fn refused(name: &str, text: String, fragment: &str) {
    let source = Source { name: name.to_owned(), text };
    let found = read(&[source], &Variables::default()).map(|_| ());
    let trouble = found.expect_err("it is refused").to_string();
    assert!(trouble.contains(fragment), "{trouble}");
}

#[test]
fn deep_nesting_is_refused() {
    refused("a.yaml", "[".repeat(100_000), "recursion limit");
    refused("a.yaml", "- ".repeat(100_000), "deep");
    refused("a.json", "[".repeat(100_000), "recursion limit");
    for deep in ["(", "[", "!", "{a=", "f(", "\"${"] {
        refused("a.tf", format!("a = {}", deep.repeat(5_000)), "not Terraform");
    }
    let chain = "true ? 1 : ".repeat(5_000);
    refused("a.tf", format!("locals {{\n  a = {chain}1\n}}\n"), "");
}

#[test]
fn multiplying_input_is_refused() {
    let doubled = |n: usize| format!("\"v{n}\": \"[concat(variables('v{0}'), variables('v{0}'))]\"", n - 1);
    let variables: Vec<String> = (1..60).map(doubled).collect();
    let text = format!(
        "{{\"variables\": {{\"v0\": \"x\", {}}}, \"resources\": [{{\"type\": \"Microsoft.DocumentDB/databaseAccounts/\
         sqlDatabases\", \"name\": \"[variables('v59')]\"}}]}}",
        variables.join(", ")
    );
    refused("a.json", text, "");
    let doubled = |n: usize| format!("  v{n} = concat(local.v{0}, local.v{0})\n", n - 1);
    let locals: String = (1..40).map(doubled).collect();
    let text = format!(
        "locals {{\n  v0 = [1, 2]\n{locals}}}\nresource \"azurerm_cosmosdb_sql_database\" \"d\" {{\n  for_each = local.v39\n  name = \"d\"\n}}\n"
    );
    refused("a.tf", text, "");
}

fn originals() -> Vec<Source> {
    let fixture = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        Source { name: name.to_owned(), text: std::fs::read_to_string(path).expect("a fixture") }
    };
    let names = ["asora.tf", "ascension.json", "studio.json", "storage.tf", "storage.json"];
    let mut all: Vec<Source> = names.map(fixture).into();
    all.extend(["project-ascension", "agents-storage"].into_iter().filter_map(built_in));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_files_are_accepted_or_refused(
        which in 0usize..7,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, "[\\[\\]{}\"'$%:,*&!|>a-z0-9 \n-]{0,3}"), 1..4),
    ) {
        let Source { name, text } = originals().swap_remove(which);
        let mut characters: Vec<char> = text.chars().collect();
        for (at, length, put) in cuts {
            let from = at.index(characters.len().max(1)).min(characters.len());
            let to = (from + length).min(characters.len());
            characters.splice(from..to, put.chars());
        }
        let source = Source { name, text: characters.into_iter().collect() };
        let given = Variables::new([("azurerm_cosmosdb_sql_database.db.name".to_owned(), "d".to_owned())]);
        match read(&[source], &given) {
            Ok(found) => for blueprint in &found {
                let planned = plan(blueprint, Environment::Production, &Observed::default());
                let in_storage = blueprint.storage.iter().map(|one| 1 + one.tables.len() + one.queues.len());
                let in_database = blueprint.database.iter().count() + blueprint.containers.len();
                prop_assert_eq!(planned.steps.len(), in_database + in_storage.sum::<usize>());
            },
            Err(trouble) => prop_assert!(!trouble.reason.is_empty()),
        }
    }
}
