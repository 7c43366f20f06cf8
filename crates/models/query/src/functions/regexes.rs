//! Regular expressions: whether a string matches, what matches, and what is put in its place.
//!
//! The service has PCRE, so patterns may look around and refer back. A pattern or modifiers that are wrong,
//! and a pattern that takes too many steps, give undefined.

use super::args::{defined, integer, short_enough, text, text_or};
use super::{Context, Function, function, pattern};
use crate::datum::Datum;
use fancy_regex::{Captures, Regex};
use orrery_value::Value;
use std::rc::Rc;

pub(super) const TABLE: &[Function] = &[
    function("REGEXEXTRACT", 2, 4, |args, context| defined(extract(args, context))),
    function("REGEXEXTRACTALL", 2, 4, |args, context| defined(extract_all(args, context))),
    function("REGEXMATCH", 2, 3, |args, context| defined(matches(args, context))),
    function("REGEXREPLACE", 3, 4, |args, context| defined(replace(args, context, 1))),
    function("REGEXREPLACEALL", 3, 4, |args, context| defined(replace(args, context, usize::MAX))),
];

fn matches(args: &[Datum<'_>], context: &Context<'_>) -> Option<bool> {
    let regex = regex(args, 2, context)?;
    regex.is_match(text(args, 0)?).ok()
}

fn extract(args: &[Datum<'_>], context: &Context<'_>) -> Option<String> {
    let (regex, group) = (regex(args, 2, context)?, group(args)?);
    let captures = regex.captures(text(args, 0)?).ok()??;
    captured(&captures, group)
}

/// A match in which the group takes no part is left out.
fn extract_all(args: &[Datum<'_>], context: &Context<'_>) -> Option<Vec<Value>> {
    let (regex, group) = (regex(args, 2, context)?, group(args)?);
    if group >= regex.captures_len() {
        return None;
    }
    let mut found = Vec::new();
    for captures in regex.captures_iter(text(args, 0)?) {
        found.extend(captured(&captures.ok()?, group).map(Value::from));
    }
    Some(found)
}

/// The replacement is taken as it is: nothing in it stands for a group.
fn replace(args: &[Datum<'_>], context: &Context<'_>, times: usize) -> Option<String> {
    let regex = regex(args, 3, context)?;
    let (whole, new) = (text(args, 0)?, text(args, 2)?);
    let mut out = String::new();
    let mut copied = 0;
    for found in regex.find_iter(whole).take(times) {
        let found = found.ok()?;
        out.push_str(&whole[copied..found.start()]);
        out.push_str(new);
        out = short_enough(out)?;
        copied = found.end();
    }
    out.push_str(&whole[copied..]);
    short_enough(out)
}

fn captured(captures: &Captures<'_>, group: usize) -> Option<String> {
    captures.get(group).map(|found| found.as_str().to_owned())
}

/// The number of the group that is wanted, the whole match if none is named.
fn group(args: &[Datum<'_>]) -> Option<usize> {
    if args.len() > 3 { usize::try_from(integer(args, 3)?).ok() } else { Some(0) }
}

/// The pattern of the second argument with the modifiers at `index`.
fn regex(args: &[Datum<'_>], index: usize, context: &Context<'_>) -> Option<Rc<Regex>> {
    let modifiers = text_or(args, index, "")?;
    context.regex(&pattern::with_modifiers(text(args, 1)?, modifiers)?)
}
