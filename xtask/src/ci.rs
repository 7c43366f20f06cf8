//! `cargo xtask ci`: all that CI runs before the server is built and the SDKs are let loose on it.
//!
//! The cheap steps come first and the first failure ends the run. Everything is built in the dev profile, so
//! clippy, the tests and the doctests share what they compile.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::packages::Packages;
use crate::tidy;
use crate::tree::Tree;

pub fn run(root: &Path) -> Result<(), String> {
    for step in before_tidy() {
        step.run(root)?;
    }
    tidy::run(root)?;
    let documented = packages_with_doctests(root)?;
    for step in after_tidy(has_nextest(root), &documented) {
        step.run(root)?;
    }
    Ok(())
}

/// One command of cargo.
#[derive(Debug, PartialEq, Eq)]
struct Step(Vec<String>);

impl Step {
    fn new(line: &str) -> Self {
        Self(line.split_whitespace().map(str::to_owned).collect())
    }

    fn run(&self, root: &Path) -> Result<(), String> {
        let line = format!("cargo {}", self.0.join(" "));
        eprintln!("== {line}");
        let began = Instant::now();
        let status = Command::new(cargo()).args(&self.0).current_dir(root).status();
        let status = status.map_err(|error| format!("`{line}` could not be started: {error}"))?;
        if !status.success() {
            return Err(format!("`{line}` failed"));
        }
        eprintln!("== done in {:.1} s", began.elapsed().as_secs_f64());
        Ok(())
    }
}

fn before_tidy() -> Vec<Step> {
    vec![Step::new("fmt --all --check")]
}

fn after_tidy(nextest: bool, documented: &[String]) -> Vec<Step> {
    let mut steps = vec![Step::new("clippy --workspace --all-targets --locked -- -D warnings")];
    steps.push(match nextest {
        true => Step::new("nextest run --workspace --locked"),
        false => Step::new("test --workspace --all-targets --locked"),
    });
    if !documented.is_empty() {
        let named = documented.iter().map(|name| format!(" -p {name}")).collect::<String>();
        steps.push(Step::new(&format!("test --doc --locked{named}")));
    }
    steps
}

/// The cargo that runs us, so that a chosen toolchain stays chosen.
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn has_nextest(root: &Path) -> bool {
    let mut command = Command::new(cargo());
    command.args(["nextest", "--version"]).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Asking rustdoc costs seconds for each crate, so only those with something to run are asked.
fn packages_with_doctests(root: &Path) -> Result<Vec<String>, String> {
    let tree = Tree::read(root)?;
    let packages = Packages::read(&tree).map_err(|finding| finding.to_string())?;
    let named = packages.members().filter_map(|package| {
        let library = format!("{}/src/", package.folder);
        let has_library = tree.has(&format!("{library}lib.rs"));
        let mut sources = tree.texts("rs").filter(|(path, _)| path.starts_with(&library));
        (has_library && sources.any(|(_, text)| has_doctest(text)))
            .then(|| package.manifest.package.clone())?
    });
    Ok(named.collect())
}

/// Whether a doc comment opens a block that rustdoc would compile.
fn has_doctest(text: &str) -> bool {
    let docs = text.lines().map(str::trim_start);
    let docs = docs.filter_map(|line| line.strip_prefix("///").or_else(|| line.strip_prefix("//!")));
    let mut fences = docs.filter_map(|line| line.trim().strip_prefix("```"));
    while let Some(info) = fences.next() {
        if info.split(',').all(|word| is_rust(word.trim())) {
            return true;
        }
        fences.next();
    }
    false
}

fn is_rust(word: &str) -> bool {
    matches!(word, "" | "rust" | "should_panic" | "no_run" | "compile_fail") || word.starts_with("edition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_rust_in_a_doc_comment_is_a_doctest() {
        for info in ["", "rust", "no_run", "rust,should_panic"] {
            assert!(has_doctest(&format!("/// Says.\n/// ```{info}\n/// x();\n/// ```\n")), "{info}");
        }
    }

    #[test]
    fn other_blocks_are_not() {
        for text in [
            "/// ```text\n/// x\n/// ```\n",
            "//! ```ignore\n//! x\n//! ```\n",
            "// ```\n// x\n// ```\n",
            "fn f() {}\n",
        ] {
            assert!(!has_doctest(text), "{text}");
        }
    }

    #[test]
    fn the_end_of_a_text_block_does_not_open_another() {
        assert!(has_doctest("//! ```text\n//! x\n//! ```\n//! ```\n//! y();\n//! ```\n"));
        assert!(!has_doctest("//! ```text\n//! x\n//! ```\n//! words\n"));
    }

    #[test]
    fn without_nextest_cargo_runs_the_tests() {
        let last = |nextest| after_tidy(nextest, &[]).pop();
        assert_eq!(last(true), Some(Step::new("nextest run --workspace --locked")));
        assert_eq!(last(false), Some(Step::new("test --workspace --all-targets --locked")));
    }

    #[test]
    fn doctests_run_only_where_there_are_some() {
        assert_eq!(after_tidy(true, &[]).len(), 2);
        let last = after_tidy(true, &["a".to_owned(), "b".to_owned()]).pop();
        assert_eq!(last, Some(Step::new("test --doc --locked -p a -p b")));
    }
}
