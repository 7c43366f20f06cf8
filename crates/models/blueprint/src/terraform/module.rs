//! A module: the blocks of all its files by name, with source positions.

use crate::budget::Budget;
use crate::node::{Fault, Location, fault};
use crate::source::Variables;
use hcl_edit::Span;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, BlockLabel, Body};
use std::collections::BTreeMap;

/// A file, parsed.
pub(super) struct File {
    number: usize,
    body: Body,
    /// The offsets at which lines begin.
    lines: Vec<usize>,
    text: String,
}

pub(super) fn parse(files: &[(usize, &str)]) -> Result<Vec<File>, Fault> {
    let one = |(number, text): &(usize, &str)| {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let body = hcl_edit::parser::parse_body(&text).map_err(|error| {
            let (line, column) = (error.location().line(), error.location().column());
            let reason = format!("this is not Terraform: {}", error.message());
            Fault { at: Location { file: *number, line, column }, reason }
        })?;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Ok(File { number: *number, body, lines, text })
    };
    files.iter().map(one).collect()
}

impl File {
    pub fn place(&self, of: &impl Span) -> Location {
        let at = of.span().map_or(0, |span| span.start).min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(1, |before| before.chars().count() + 1);
        Location { file: self.number, line, column }
    }
}

/// A block and the file it is in.
#[derive(Clone, Copy)]
pub(super) struct Declared<'m> {
    pub file: &'m File,
    pub block: &'m Block,
}

impl Declared<'_> {
    pub fn at(&self) -> Location {
        self.file.place(self.block)
    }
}

pub(super) struct Module<'m> {
    pub variables: &'m Variables,
    pub budget: Budget,
    declared: BTreeMap<&'m str, Declared<'m>>,
    locals: BTreeMap<&'m str, (&'m File, &'m Expression)>,
    /// By type and name; `data` blocks have the prefix `data.` before the type.
    resources: BTreeMap<(String, &'m str), Declared<'m>>,
    /// In file order.
    order: Vec<(String, &'m str)>,
}

impl<'m> Module<'m> {
    pub fn of(files: &'m [File], variables: &'m Variables) -> Result<Self, Fault> {
        let mut module = Self {
            variables,
            budget: Budget::new(),
            declared: BTreeMap::new(),
            locals: BTreeMap::new(),
            resources: BTreeMap::new(),
            order: Vec::new(),
        };
        for file in files {
            for block in file.body.blocks() {
                module.add(Declared { file, block })?;
            }
        }
        Ok(module)
    }

    fn add(&mut self, one: Declared<'m>) -> Result<(), Fault> {
        let labels: Vec<&'m str> = one.block.labels.iter().map(label).collect();
        let twice = match (one.block.ident.as_str(), labels.as_slice()) {
            ("variable", [name]) => self.declared.insert(name, one).is_some(),
            ("locals", []) => {
                for attribute in one.block.body.attributes() {
                    self.locals.insert(attribute.key.as_str(), (one.file, &attribute.value));
                }
                false
            }
            ("resource", [kind, name]) => self.add_resource((*kind).to_owned(), name, one),
            ("data", [kind, name]) => self.add_resource(format!("data.{kind}"), name, one),
            _ => false,
        };
        if twice { fault(one.at(), format!("'{}' is here twice", labels.join("."))) } else { Ok(()) }
    }

    fn add_resource(&mut self, kind: String, name: &'m str, one: Declared<'m>) -> bool {
        self.order.push((kind.clone(), name));
        self.resources.insert((kind, name), one).is_some()
    }

    pub fn variable(&self, name: &str) -> Option<Declared<'m>> {
        self.declared.get(name).copied()
    }

    pub fn local(&self, name: &str) -> Option<(&'m File, &'m Expression)> {
        self.locals.get(name).copied()
    }

    pub fn resource(&self, kind: &str, name: &str) -> Option<Declared<'m>> {
        let found = self.order.iter().find(|(known, label)| known == kind && *label == name)?;
        self.resources.get(found).copied()
    }

    /// All resources of a type.
    pub fn resources(&self, kind: &str) -> impl Iterator<Item = Declared<'m>> {
        let wanted = self.order.iter().filter(move |(known, _)| known == kind);
        wanted.filter_map(|key| self.resources.get(key).copied()).collect::<Vec<_>>().into_iter()
    }
}

fn label(label: &BlockLabel) -> &str {
    match label {
        BlockLabel::Ident(name) => name.as_str(),
        BlockLabel::String(name) => name.as_str(),
    }
}
