//! Compiles the source of a script into its function.
//!
//! A body is a function expression, named or not, an arrow function, or a program whose first function is the
//! script and whose other functions are helpers.

use crate::call::ScriptError;
use crate::runtime::{Machine, eval};
use rquickjs::{Ctx, Error, Function, Value};

fn trimmed(body: &str) -> &str {
    body.trim_end_matches(|end: char| end == ';' || end.is_whitespace())
}

fn not_a_function() -> ScriptError {
    let message = "TypeError: the body is not a function".to_owned();
    ScriptError::Compile { message, stack: String::new() }
}

pub(crate) fn compile<'js>(
    machine: &Machine,
    ctx: &Ctx<'js>,
    name: &str,
    body: &str,
) -> Result<Function<'js>, ScriptError> {
    let name = format!("{name}.js");
    let text = trimmed(body);
    // On one line with the body, to preserve its line numbers.
    let found = match eval::<Value<'js>>(ctx, &format!("({text}\n)"), &name) {
        Ok(found) => found,
        Err(error) => {
            drop(machine.describe(ctx, error));
            as_program(ctx, body, &name).map_err(|error| syntax(machine.describe(ctx, error)))?
        }
    };
    found.into_function().ok_or_else(not_a_function)
}

/// In a scope of its own, so that scripts do not see each other's helpers.
fn as_program<'js>(ctx: &Ctx<'js>, body: &str, name: &str) -> Result<Value<'js>, Error> {
    match first_function(body) {
        Some(first) => eval(ctx, &format!("(function () {{ {body}\nreturn {first};\n}})()"), name),
        None => eval(ctx, body, name),
    }
}

fn syntax(error: ScriptError) -> ScriptError {
    match error {
        ScriptError::Thrown { message, stack, .. } => ScriptError::Compile { message, stack },
        other => other,
    }
}

/// The name of the first function in a program.
fn first_function(program: &str) -> Option<&str> {
    let mut rest = program.trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")?.1
        } else if let Some(comment) = rest.strip_prefix("//") {
            comment.split_once('\n')?.1
        } else if let Some(directive) =
            rest.strip_prefix("\"use strict\"").or_else(|| rest.strip_prefix("'use strict'"))
        {
            directive.trim_start_matches(';')
        } else {
            break;
        };
        rest = after.trim_start();
    }
    let rest = rest.strip_prefix("async").map_or(rest, str::trim_start);
    let rest = rest.strip_prefix("function")?.trim_start().trim_start_matches('*').trim_start();
    let end = rest.find(|next: char| !(next.is_alphanumeric() || next == '_' || next == '$'))?;
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_function_of_a_program_is_found() {
        let check = |text: &str, name: Option<&str>| assert_eq!(first_function(text), name, "{text}");
        check("function a() {} function b() {}", Some("a"));
        check("// x\n/* y */ async function $a_1() {}", Some("$a_1"));
        check("var a = 1; function b() {}", None);
        check("function () {}", None);
        check("/* open", None);
    }
}
