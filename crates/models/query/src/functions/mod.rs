//! The built-in scalar functions, one file per family.
//!
//! A function is an entry of a table: its name as in the reference, its number of arguments, and a plain
//! function of them. Arguments are evaluated before the call; an undefined one arrives as
//! [`Datum::Undefined`]. Unless the reference says otherwise, the result for an undefined argument or one of
//! the wrong type is undefined. Names are case-insensitive.

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
mod regex_functions;
mod spatial;
mod strings;
mod types;
mod utf16;
pub mod vector;

pub use context::Context;
pub(crate) use context::check_pattern;
pub(crate) use regex_functions::modifiers_of;

/// One built-in function.
pub struct Function {
    /// As in the reference: `ARRAY_CONTAINS`, `DateTimeAdd`.
    pub name: &'static str,
    pub args_min: usize,
    /// `usize::MAX` for a variadic function.
    pub args_max: usize,
    pub eval: for<'a> fn(&[Datum<'a>], &Context<'_>) -> Datum<'a>,
}

/// Makes an entry of a family's table.
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
    regex_functions::TABLE,
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

/// Finds a function by name, ignoring case.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(&name.to_ascii_uppercase()).copied()
}

/// Every built-in function.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}
