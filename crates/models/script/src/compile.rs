//! From the text of a script to its function.
//!
//! A body is a function expression, with or without a name, an arrow function, or a program whose first function is
//! the script and whose others help it.

use crate::error::ScriptError;
use crate::runtime::{Limits, Machine, Shared, eval};
use orrery_core::limits;
use rquickjs::{Ctx, Error, Function, Value};
use std::rc::Rc;

/// Whether a body can be a script. Nothing of it is run but an expression that it may be.
pub fn check(body: &str) -> Result<(), ScriptError> {
    if trimmed(body).is_empty() {
        return Err(not_a_function());
    }
    let began = std::time::Instant::now();
    let elapsed = Rc::new(move || began.elapsed().as_millis() as u64);
    let limits = Limits { millis_max: limits::SCRIPT_COMPILE_MILLIS_MAX, ..Limits::default() };
    let machine = Machine::new(Shared::new(limits, elapsed, 0))?;
    machine.context.with(|ctx| match eval::<Value<'_>>(&ctx, &format!("({}\n)", trimmed(body)), NAME) {
        Ok(found) if found.is_function() => Ok(()),
        Ok(_) => Err(not_a_function()),
        Err(error) => {
            drop(machine.describe(&ctx, error));
            let program = eval::<Value<'_>>(&ctx, &format!("(function () {{ {body}\n}})"), NAME);
            program.map(drop).map_err(|error| syntax(machine.describe(&ctx, error)))
        }
    })
}

/// What a script is called while nobody has named it.
const NAME: &str = "script.js";

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
    // On one line with the body, so that its lines keep their numbers.
    let found = match eval::<Value<'js>>(ctx, &format!("({text}\n)"), &name) {
        Ok(found) => found,
        Err(error) => {
            drop(machine.describe(ctx, error));
            as_program(ctx, body, &name).map_err(|error| syntax(machine.describe(ctx, error)))?
        }
    };
    found.into_function().ok_or_else(not_a_function)
}

/// In a scope of its own, so that the helpers of one script are not seen by another.
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

/// The name of the function that a program begins with.
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
    fn functions_of_every_form_are_bodies() {
        for body in [
            "function () {}",
            "function name(a, b) { return a + b }",
            "  // about\n  function name() {}  ;\n",
            "/** about */ async function name() {}",
            "(a, b) => a + b",
            "async x => x",
            "function main() { return help() }\nfunction help() { return 1 }",
            "'use strict'; function main() { return help() }\nfunction help() { return 1 }",
            "const half = x => x / 2; half",
        ] {
            assert_eq!(check(body), Ok(()), "{body}");
        }
    }

    #[test]
    fn what_is_no_function_is_refused() {
        for (body, part) in [
            ("", "not a function"),
            ("1", "not a function"),
            ("{a: 1}", "not a function"),
            ("function (", "SyntaxError"),
            ("function f() { return 1 +; }", "SyntaxError"),
            ("import x from 'fs'", "SyntaxError"),
            ("} function () {", "SyntaxError"),
        ] {
            let error = check(body).expect_err(body).to_string();
            assert!(error.contains(part), "{body}: {error}");
        }
    }

    #[test]
    fn a_program_is_not_run_to_see_whether_it_is_one() {
        assert_eq!(check("function f() {} while (true) {}"), Ok(()));
        assert_eq!(check("const c = getContext(); function f() {}"), Ok(()));
    }

    #[test]
    fn a_syntax_error_tells_its_line() {
        let error = check("function f() {\n  var a = ;\n}").expect_err("no function").to_string();
        assert!(error.contains("script.js:2"), "{error}");
    }

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
