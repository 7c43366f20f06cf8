//! The regular expression functions: match, extract and replace.
//!
//! The service uses PCRE, so patterns may contain look-around and back-references. A malformed pattern or
//! modifier gives undefined. A pattern that is too large, or takes too many steps, fails the query: undefined
//! would be a wrong result, since a match may exist.

use super::args::{defined, integer, short_enough, text, text_or};
use super::regex::{Match, Regex};
use super::{Context, Function, function, pattern};
use crate::datum::Datum;
use orrery_value::Value;
use std::rc::Rc;

pub(super) const TABLE: &[Function] = &[
    function("REGEXEXTRACT", 2, 4, |args, context| defined(extract(args, context))),
    function("REGEXEXTRACTALL", 2, 4, |args, context| defined(extract_all(args, context))),
    function("REGEXMATCH", 2, 3, |args, context| defined(matches(args, context))),
    function("REGEXREPLACE", 3, 4, |args, context| defined(replace(args, context, 1))),
    function("REGEXREPLACEALL", 3, 4, |args, context| defined(replace(args, context, usize::MAX))),
];

/// The index of a function's modifiers argument; `None` for functions without a pattern.
pub(crate) fn modifiers_of(function: &Function) -> Option<usize> {
    let is_ours = TABLE.iter().any(|own| std::ptr::eq(own.name, function.name));
    is_ours.then(|| if function.name.starts_with("REGEXREPLACE") { 3 } else { 2 })
}

fn matches(args: &[Datum<'_>], context: &Context<'_>) -> Option<bool> {
    let regex = regex(args, 2, context)?;
    context.match_result(regex.is_match(text(args, 0)?, &context.meter()))
}

fn extract(args: &[Datum<'_>], context: &Context<'_>) -> Option<String> {
    let (regex, group) = (regex(args, 2, context)?, group(args)?);
    let (text, meter) = (text(args, 0)?, context.meter());
    let first = context.match_result(regex.matches(text, &meter).next()?)?;
    captured(text, &first, group)
}

/// A match in which the group does not participate is skipped.
fn extract_all(args: &[Datum<'_>], context: &Context<'_>) -> Option<Vec<Value>> {
    let (regex, group) = (regex(args, 2, context)?, group(args)?);
    if group >= regex.groups() {
        return None;
    }
    let (text, meter, mut found) = (text(args, 0)?, context.meter(), Vec::new());
    for one in regex.matches(text, &meter) {
        found.extend(captured(text, &context.match_result(one)?, group).map(Value::from));
    }
    Some(found)
}

/// The replacement is literal: nothing in it refers to a group.
fn replace(args: &[Datum<'_>], context: &Context<'_>, times: usize) -> Option<String> {
    let regex = regex(args, 3, context)?;
    let (whole, new, meter) = (text(args, 0)?, text(args, 2)?, context.meter());
    let mut out = String::new();
    let mut copied = 0;
    for found in regex.matches(whole, &meter).take(times) {
        let found = context.match_result(found)?.group(0)?;
        out.push_str(&whole[copied..found.start]);
        out.push_str(new);
        out = short_enough(out)?;
        copied = found.end;
    }
    out.push_str(&whole[copied..]);
    short_enough(out)
}

fn captured(text: &str, found: &Match, group: usize) -> Option<String> {
    found.group(group).map(|place| text[place].to_owned())
}

/// The requested group number; the whole match by default.
fn group(args: &[Datum<'_>]) -> Option<usize> {
    if args.len() > 3 { usize::try_from(integer(args, 3)?).ok() } else { Some(0) }
}

/// The pattern in the second argument with the modifiers at `index`.
fn regex(args: &[Datum<'_>], index: usize, context: &Context<'_>) -> Option<Rc<Regex>> {
    let modifiers = text_or(args, index, "")?;
    context.regex(&pattern::with_modifiers(text(args, 1)?, modifiers)?)
}
