//! Reads files into blueprints: detects each file's format, and applies the variables given with them.

use crate::blueprint::Blueprint;
use crate::budget::Budget;
use crate::limits;
use crate::node::{Fault, SourceError};
use crate::{arm, format, json, terraform, yaml};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A file: its name, whose extension determines the format, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// `--var name=value`. Records which were used, because an unused one is an error.
#[derive(Debug, Default)]
pub struct Variables {
    given: BTreeMap<String, String>,
    used: RefCell<BTreeSet<String>>,
}

impl Variables {
    pub fn new(given: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { given: given.into_iter().collect(), used: RefCell::default() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.given.get(name)?;
        self.used.borrow_mut().insert(name.to_owned());
        Some(value)
    }

    fn unused(&self) -> Option<&str> {
        let used = self.used.borrow();
        self.given.keys().find(|name| !used.contains(*name)).map(String::as_str)
    }
}

/// The blueprints of these files. Terraform files form one module; every other file is read separately.
pub fn read(sources: &[Source], variables: &Variables) -> Result<Vec<Blueprint>, SourceError> {
    let named = |fault: Fault| {
        let file = sources.get(fault.at.file).map(|source| source.name.clone()).unwrap_or_default();
        SourceError { file, line: fault.at.line, column: fault.at.column, reason: fault.reason }
    };
    let nowhere =
        |file: &str, reason: String| SourceError { file: file.to_owned(), line: 0, column: 0, reason };
    if sources.len() > limits::BLUEPRINT_FILES_MAX {
        return Err(nowhere(
            "--",
            format!("more than {} files are not read at once", limits::BLUEPRINT_FILES_MAX),
        ));
    }
    let (mut found, mut module) = (Vec::new(), Vec::new());
    for (number, source) in sources.iter().enumerate() {
        if source.text.len() > limits::BLUEPRINT_BYTES_MAX {
            let reason = format!("a file has at most {} bytes", limits::BLUEPRINT_BYTES_MAX);
            return Err(nowhere(&source.name, reason));
        }
        match Format::of(&source.name) {
            Some(Format::Yaml) => {
                let root = yaml::load(number, &source.text).map_err(named)?;
                found.push(format::read(&root).map_err(named)?);
            }
            Some(Format::Json) => {
                let root = json::load(number, &source.text).map_err(named)?;
                found.extend(read_json(&root, variables).map_err(named)?);
            }
            Some(Format::Terraform) => module.push((number, source.text.as_str())),
            None => {
                let reason = "its name must end in .yaml, .yml, .tf or .json, which tells what is in it; a .bicep file \
                              becomes .json with bicep build"
                    .to_owned();
                return Err(nowhere(&source.name, reason));
            }
        }
    }
    if !module.is_empty() {
        found.extend(terraform::read(&module, variables).map_err(named)?);
    }
    match variables.unused() {
        None => Ok(found),
        Some(name) => {
            let file = sources.first().map(|source| source.name.as_str()).unwrap_or_default();
            Err(nowhere(file, format!("nothing here asks for the variable '{name}'; leave out --var {name}")))
        }
    }
}

/// An ARM template, or a native blueprint in JSON.
fn read_json(root: &crate::node::Node, variables: &Variables) -> Result<Vec<Blueprint>, Fault> {
    if root.get("blueprint").is_some() && root.get("resources").is_none() {
        return Ok(vec![format::read(root)?]);
    }
    arm::read(root, variables, &Budget::new())
}

enum Format {
    Yaml,
    Json,
    Terraform,
}

impl Format {
    fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "tf" => Some(Self::Terraform),
            _ => None,
        }
    }
}
