//! The built-in scalar functions, one file a family.
//!
//! A function is a row of a table: its name as the reference spells it, how many arguments it takes, and a
//! plain function of them. Arguments are evaluated before the call; one that is undefined arrives as
//! [`Datum::Undefined`], and unless the reference says otherwise the answer to it, and to an argument of the
//! wrong type, is undefined. Names are found whatever their case.

use crate::datum::Datum;
use std::collections::HashMap;
use std::sync::LazyLock;

mod args;
mod arrays;
mod casing;
mod context;
mod datetime;
pub mod full_text;
mod math;
mod pattern;
mod regex;
mod regexes;
mod spatial;
mod strings;
mod types;
mod utf16;
pub mod vector;

pub use context::Context;
pub(crate) use context::check_pattern;
pub(crate) use regexes::modifiers_of;

/// One built-in function.
pub struct Function {
    /// As the reference spells it: `ARRAY_CONTAINS`, `DateTimeAdd`.
    pub name: &'static str,
    pub args_min: usize,
    /// `usize::MAX` when it takes any number.
    pub args_max: usize,
    pub eval: for<'a> fn(&[Datum<'a>], &Context<'_>) -> Datum<'a>,
}

/// What a row of a family's table is made with.
pub(crate) const fn function(
    name: &'static str,
    args_min: usize,
    args_max: usize,
    eval: for<'a> fn(&[Datum<'a>], &Context<'_>) -> Datum<'a>,
) -> Function {
    Function { name, args_min, args_max, eval }
}

const FAMILIES: &[&[Function]] = &[
    arrays::TABLE,
    arrays::MATH,
    types::CONDITIONAL,
    datetime::TABLE,
    full_text::TABLE,
    math::INTEGERS,
    types::ITEM,
    math::TABLE,
    math::ROUNDING,
    math::TRIGONOMETRY,
    regexes::TABLE,
    arrays::SETS,
    spatial::TABLE,
    strings::TABLE,
    strings::CONVERSIONS,
    strings::PARTS,
    strings::SEARCH,
    types::TABLE,
    vector::TABLE,
];

static BY_NAME: LazyLock<HashMap<String, &'static Function>> =
    LazyLock::new(|| all().map(|function| (function.name.to_ascii_uppercase(), function)).collect());

/// The function of this name, whatever its case.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(&name.to_ascii_uppercase()).copied()
}

/// Every function there is.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}
