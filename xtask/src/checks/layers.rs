//! Arrows between crates point down, and sideways only to a sibling that the layer shares.
//!
//! The layer is read from the path, `crates/<layer>/<name>`; `client`, `cli`, `offline` and `server` are layers of one crate.
//! [`LAYERS`] says for each layer which others it may use and which of its own crates the siblings share.
//! [`EXCEPTIONS`] lists the arrows that break the rule today, each with its reason; one that no manifest needs any more
//! must be removed. Tests may use any sibling and any tool outside `crates/`, but nothing above their layer. What is
//! outside `crates/` (testing, bench, xtask) may use anything.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::manifest::Kind;
use crate::packages::{Package, Packages};

struct Layer {
    name: &'static str,
    /// Lower layers, or single crates of them (`models/query`).
    uses: &'static [&'static str],
    /// The crates that siblings may use, the lowest first: each may itself use those before it.
    shared: &'static [&'static str],
}

/// From the bottom up.
const LAYERS: [Layer; 10] = [
    Layer { name: "base", uses: &[], shared: &["core", "value", "keys"] },
    Layer { name: "engine", uses: &["base"], shared: &["kv"] },
    Layer {
        name: "models",
        uses: &["base", "engine"],
        shared: &["query", "script", "json-schema", "catalog"],
    },
    // Pure models, for what a client must understand as the server does: plans of queries, exact values of entities.
    Layer { name: "client", uses: &["base", "models/query", "models/tables"], shared: &[] },
    Layer { name: "stores", uses: &["base", "engine", "models"], shared: &[] },
    Layer { name: "apps", uses: &["base", "engine", "models", "stores"], shared: &["kit"] },
    Layer {
        name: "api",
        uses: &["base", "engine", "models", "stores", "apps"],
        shared: &["common", "storage"],
    },
    Layer { name: "cli", uses: &["base", "models", "client"], shared: &[] },
    Layer {
        name: "offline",
        uses: &["base", "engine", "models", "stores", "apps", "api", "cli"],
        shared: &[],
    },
    Layer {
        name: "server",
        uses: &["base", "engine", "models", "client", "stores", "apps", "api", "cli", "offline"],
        shared: &[],
    },
];

/// An arrow that the rules refuse and that stands nevertheless.
struct Exception {
    from: &'static str,
    to: &'static str,
    #[expect(dead_code, reason = "for whoever reads this file")]
    reason: &'static str,
}

/// To shrink, not to grow.
const EXCEPTIONS: &[Exception] = &[
    Exception {
        from: "crates/models/blueprint",
        to: "crates/models/documents",
        reason: "a blueprint declares containers; their definitions are moving to models/catalog",
    },
    Exception {
        from: "crates/models/blueprint",
        to: "crates/models/tables",
        reason: "a blueprint declares example entities, whose values and limits are those of tables",
    },
    Exception {
        from: "crates/models/blueprint",
        to: "crates/models/queues",
        reason: "a blueprint declares queues, whose metadata and messages have the limits of queues",
    },
    Exception {
        from: "crates/api/admin",
        to: "crates/api/cosmos",
        reason: "access to the account and the statuses of store errors are in api/cosmos",
    },
    Exception {
        from: "crates/api/common",
        to: "crates/client",
        reason: "the keys of an issuer of bearer tokens are asked for over HTTP; no protocol may send anything itself",
    },
    Exception {
        from: "crates/apps/kit",
        to: "crates/client",
        reason: "the remote adapters are clients of another server; no other app may reach one directly",
    },
];

pub fn check(packages: &Packages) -> Vec<Finding> {
    check_with(packages, EXCEPTIONS)
}

fn check_with(packages: &Packages, exceptions: &[Exception]) -> Vec<Finding> {
    let mut needed = BTreeSet::new();
    let mut found = Vec::new();
    for package in packages.iter() {
        found.extend(check_package(packages, package, exceptions, &mut needed));
    }
    let present: BTreeSet<&str> = packages.iter().map(|package| package.folder.as_str()).collect();
    let stale = exceptions.iter().enumerate().filter(|(at, exception)| {
        !needed.contains(at) && present.contains(exception.from) && present.contains(exception.to)
    });
    found.extend(stale.map(|(_, exception)| {
        let sentence = format!("nothing needs the exception `{}` → `{}`", exception.from, exception.to);
        Finding::new("xtask/src/checks/layers.rs", 1, sentence)
    }));
    found
}

/// The arrows of one package that may not be. `needed` collects the exceptions that were used.
fn check_package(
    packages: &Packages,
    package: &Package,
    exceptions: &[Exception],
    needed: &mut BTreeSet<usize>,
) -> Vec<Finding> {
    let path = package.manifest_path();
    let from = match Place::of(&package.folder) {
        Place::Outside => return Vec::new(),
        Place::Unknown => return vec![Finding::new(&path, 1, unknown_layer(&package.folder))],
        Place::Inside(spot) => spot,
    };
    let mut found = Vec::new();
    for dependency in &package.manifest.dependencies {
        let Some(target) = packages.target(package, dependency) else { continue };
        let Some(reason) = refuse(&from, &Place::of(&target), dependency.kind) else { continue };
        let excepted = exceptions.iter().position(|it| it.from == package.folder && it.to == target);
        match excepted {
            Some(at) => drop(needed.insert(at)),
            None => {
                found.push(Finding::new(&path, dependency.line, format!("`{}`: {reason}", dependency.name)))
            }
        }
    }
    found
}

fn unknown_layer(folder: &str) -> String {
    let names: Vec<&str> = LAYERS.iter().map(|layer| layer.name).collect();
    format!("`{folder}` is in no layer; a crate lives at crates/<layer>/<name>, one of {}", names.join(", "))
}

struct Spot<'a> {
    layer: &'static Layer,
    height: usize,
    name: &'a str,
}

enum Place<'a> {
    Inside(Spot<'a>),
    /// Under `crates/`, and yet in no layer.
    Unknown,
    Outside,
}

impl<'a> Place<'a> {
    fn of(folder: &'a str) -> Self {
        let mut parts = folder.split('/');
        if parts.next() != Some("crates") {
            return Self::Outside;
        }
        let layer = parts.next().unwrap_or_default();
        let name = parts.next().unwrap_or(layer);
        match LAYERS.iter().position(|known| known.name == layer) {
            Some(height) => Self::Inside(Spot { layer: &LAYERS[height], height, name }),
            None => Self::Unknown,
        }
    }
}

/// Why this arrow may not be, or `None` when it may.
fn refuse(from: &Spot, to: &Place, kind: Kind) -> Option<String> {
    let to = match to {
        Place::Inside(spot) => spot,
        Place::Outside if kind == Kind::Dev => return None,
        Place::Outside => return Some("only tests may use what lies outside crates/".to_owned()),
        Place::Unknown => return Some("it is in no layer".to_owned()),
    };
    if to.height > from.height {
        return Some(format!("{} lies above {}, and arrows point down", to.layer.name, from.layer.name));
    }
    if kind == Kind::Dev {
        return None;
    }
    if to.height == from.height { refuse_sibling(from, to) } else { refuse_lower(from, to) }
}

fn refuse_lower(from: &Spot, to: &Spot) -> Option<String> {
    let whole = to.layer.name;
    let single = format!("{whole}/{}", to.name);
    let allowed = from.layer.uses.iter().any(|used| *used == whole || *used == single);
    (!allowed).then(|| format!("{} uses only {}", from.layer.name, from.layer.uses.join(", ")))
}

fn refuse_sibling(from: &Spot, to: &Spot) -> Option<String> {
    let rank = |spot: &Spot| from.layer.shared.iter().position(|shared| *shared == spot.name);
    let allowed = match (rank(from), rank(to)) {
        (Some(from), Some(to)) => to <= from,
        (None, Some(_)) => true,
        (_, None) => from.name == to.name,
    };
    let shared = match from.layer.shared {
        [] => "what two of them share moves down a layer".to_owned(),
        shared => format!("they share {}, and each of these only those before it", shared.join(", ")),
    };
    (!allowed).then(|| format!("siblings in {} never call each other; {shared}", from.layer.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn sentences(from: &str, section: &str, to: &str) -> Vec<String> {
        let ups = "../".repeat(from.split('/').count());
        let manifest = format!("[package]\nname = \"p\"\n[{section}]\nq = {{ path = \"{ups}{to}\" }}\n");
        let tree = Tree::of(&[(&format!("{from}/Cargo.toml"), &manifest)]);
        let packages = Packages::read(&tree).expect("valid");
        check(&packages).into_iter().map(|finding| finding.to_string()).collect()
    }

    fn allowed(from: &str, section: &str, to: &str) {
        assert_eq!(sentences(from, section, to), [""; 0], "{from} -> {to}");
    }

    fn refused(from: &str, section: &str, to: &str, sentence: &str) {
        let found = sentences(from, section, to);
        assert_eq!(found.len(), 1, "{from} -> {to}");
        let expected = format!("{from}/Cargo.toml:4: `q`: ");
        assert!(found[0].starts_with(&expected) && found[0].contains(sentence), "{}", found[0]);
    }

    #[test]
    fn arrows_down_are_fine_however_far() {
        allowed("crates/server", "dependencies", "crates/base/core");
        allowed("crates/api/cosmos", "dependencies", "crates/apps/runs");
        allowed("crates/engine/kv", "build-dependencies", "crates/base/core");
    }

    #[test]
    fn arrows_up_are_refused_in_tests_too() {
        refused("crates/base/core", "dependencies", "crates/engine/kv", "engine lies above base");
        refused("crates/apps/runs", "dependencies", "crates/api/common", "api lies above apps");
        refused("crates/models/documents", "dev-dependencies", "crates/server", "server lies above models");
    }

    #[test]
    fn siblings_in_every_layer_know_only_the_shared_ones() {
        for (layer, shared) in
            [("base", "value"), ("engine", "kv"), ("models", "catalog"), ("apps", "kit"), ("api", "common")]
        {
            let crates = format!("crates/{layer}");
            allowed(&format!("{crates}/a"), "dependencies", &format!("{crates}/{shared}"));
            refused(
                &format!("{crates}/a"),
                "dependencies",
                &format!("{crates}/b"),
                &format!("siblings in {layer}"),
            );
            refused(&format!("{crates}/{shared}"), "dependencies", &format!("{crates}/b"), "siblings in");
            allowed(&format!("{crates}/a"), "dev-dependencies", &format!("{crates}/b"));
        }
        refused("crates/stores/documents", "dependencies", "crates/stores/queues", "moves down a layer");
    }

    #[test]
    fn shared_siblings_use_those_before_them() {
        allowed("crates/models/catalog", "dependencies", "crates/models/query");
        refused("crates/models/query", "dependencies", "crates/models/catalog", "siblings in models");
        allowed("crates/base/keys", "dependencies", "crates/base/value");
        allowed("crates/engine/kv", "dev-dependencies", "crates/engine/kv");
    }

    #[test]
    fn the_client_sees_base_and_the_models_of_what_it_must_understand() {
        allowed("crates/client", "dependencies", "crates/base/protocol");
        allowed("crates/client", "dependencies", "crates/models/query");
        allowed("crates/client", "dependencies", "crates/models/tables");
        refused("crates/client", "dependencies", "crates/models/documents", "client uses only");
        refused("crates/cli", "dependencies", "crates/stores/documents", "cli uses only");
        allowed("crates/cli", "dependencies", "crates/client");
        allowed("crates/server", "dependencies", "crates/cli");
    }

    #[test]
    fn an_exception_lets_its_arrow_stand_while_it_is_needed() {
        let exceptions = [Exception { from: "crates/apps/a", to: "crates/apps/b", reason: "for now" }];
        let found = |dependency: &str| {
            let manifest = format!("[package]\nname = \"a\"\n{dependency}");
            let tree = Tree::of(&[
                ("crates/apps/a/Cargo.toml", &manifest),
                ("crates/apps/b/Cargo.toml", "[package]\nname = \"b\"\n"),
            ]);
            check_with(&Packages::read(&tree).expect("valid"), &exceptions)
        };
        assert_eq!(found("[dependencies]\nb = { path = \"../b\" }\n"), []);
        let stale = found("");
        assert_eq!(stale.len(), 1);
        assert!(stale[0].sentence.contains("nothing needs the exception"), "{}", stale[0]);
    }

    #[test]
    fn tools_outside_are_for_tests_and_use_anything_themselves() {
        allowed("crates/models/query", "dev-dependencies", "testing/golden");
        refused("crates/models/query", "dependencies", "testing/golden", "only tests");
        allowed("testing/sim", "dependencies", "crates/server");
        allowed("bench/compare", "dependencies", "crates/engine/kv-fjall");
    }

    #[test]
    fn a_crate_in_no_layer_is_named() {
        let found = sentences("crates/misc/x", "dependencies", "crates/base/core");
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("is in no layer"), "{}", found[0]);
    }
}
