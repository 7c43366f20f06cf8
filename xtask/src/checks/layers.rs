//! Arrows between crates point down.
//!
//! The layer is read from the path, `crates/<layer>/<name>`. A crate may use lower layers and, inside `base`,
//! `engine` and `models`, its siblings. Siblings in `apps` and `api` do not know each other: what they share
//! is in `kit` or `common`. Tests may use any sibling and any tool outside `crates/`, but still nothing above.
//! What is outside `crates/` (testing, bench, xtask) may use anything.

use crate::finding::Finding;
use crate::manifest::Kind;
use crate::packages::{Package, Packages};

/// From the bottom up.
const LAYERS: [&str; 6] = ["base", "engine", "models", "apps", "api", "server"];
/// The layers whose crates may know only a shared sibling.
const STRANGERS: [&str; 2] = ["apps", "api"];
const SHARED_SIBLINGS: [&str; 2] = ["common", "kit"];

pub fn check(packages: &Packages) -> Vec<Finding> {
    packages.iter().flat_map(|package| check_package(packages, package)).collect()
}

fn check_package(packages: &Packages, package: &Package) -> Vec<Finding> {
    let path = package.manifest_path();
    let from = match Place::of(&package.folder) {
        Place::Outside => return Vec::new(),
        Place::Unknown => return vec![Finding::new(&path, 1, unknown_layer(&package.folder))],
        Place::Inside(spot) => spot,
    };
    let ours = package.manifest.dependencies.iter().filter_map(|d| Some((d, packages.target(package, d)?)));
    let wrong = ours.filter_map(|(dependency, target)| {
        let reason = refuse(&from, &Place::of(&target), dependency.kind)?;
        Some(Finding::new(&path, dependency.line, format!("`{}`: {reason}", dependency.name)))
    });
    wrong.collect()
}

fn unknown_layer(folder: &str) -> String {
    format!("`{folder}` is in no layer; a crate lives at crates/<layer>/<name>, one of {}", LAYERS.join(", "))
}

struct Spot<'a> {
    layer: &'a str,
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
        match LAYERS.iter().position(|known| *known == layer) {
            Some(height) => Self::Inside(Spot { layer, height, name }),
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
        return Some(format!("{} lies above {}, and arrows point down", to.layer, from.layer));
    }
    let strangers = to.height == from.height && STRANGERS.contains(&from.layer);
    if strangers && kind == Kind::Normal && !SHARED_SIBLINGS.contains(&to.name) {
        return Some(format!(
            "siblings in {} never call each other; share through common or kit",
            from.layer
        ));
    }
    None
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
        refused("crates/models/store", "dev-dependencies", "crates/server", "server lies above models");
    }

    #[test]
    fn siblings_know_each_other_below_apps() {
        for layer in ["base", "engine", "models"] {
            allowed(&format!("crates/{layer}/a"), "dependencies", &format!("crates/{layer}/b"));
        }
    }

    #[test]
    fn siblings_in_api_and_apps_share_only_common_and_kit() {
        refused("crates/api/cosmos", "dependencies", "crates/api/blob", "siblings in api");
        refused("crates/apps/runs", "dependencies", "crates/apps/agents", "siblings in apps");
        allowed("crates/api/cosmos", "dependencies", "crates/api/common");
        allowed("crates/apps/runs", "dependencies", "crates/apps/kit");
        allowed("crates/api/cosmos", "dev-dependencies", "crates/api/blob");
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
