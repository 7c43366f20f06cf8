//! One run: the script's function, then its operations in turn until none is left.

use crate::call::ScriptError;
use crate::call::{Call, Ended, Failed, ScriptContext};
use crate::call::{Document, Host, Operation, Refusal, WriteOptions};
use crate::compile::compile;
use crate::runtime::{Machine, Prelude, Shared, broken};
use orrery_value::Value as Json;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, Function, Object, Value};

/// Runs a procedure or a trigger to its end. The host keeps or drops the script's writes.
pub fn run(
    body: &str,
    call: Call<'_>,
    context: &ScriptContext<'_>,
    host: &mut dyn Host,
) -> Result<Ended, Failed> {
    let shared = Shared::new(context.limits, context.elapsed.clone(), context.seed);
    let ended = Machine::new(shared.clone()).and_then(|machine| {
        machine.context.with(|ctx| Run { machine: &machine, ctx }.whole(body, call, context, host))
    });
    let log = shared.take_log();
    match ended {
        Ok(body) => Ok(Ended { body, log }),
        Err(error) => Err(Failed { error, log }),
    }
}

struct Run<'a, 'js> {
    machine: &'a Machine,
    ctx: Ctx<'js>,
}

impl<'js> Run<'_, 'js> {
    fn whole(
        &self,
        body: &str,
        call: Call<'_>,
        context: &ScriptContext<'_>,
        host: &mut dyn Host,
    ) -> Result<Option<String>, ScriptError> {
        let ScriptContext { now_ms, self_link, alt_link, .. } = *context;
        let driver = self.machine.prelude(&self.ctx, &Prelude::Database { now_ms, self_link, alt_link })?;
        let main = compile(self.machine, &self.ctx, context.name, body)?;
        self.call::<Value<'js>>(&driver, "begin", (given(call, context.values),))?;
        let arguments = self.arguments(call)?;
        let returned: Value<'js> = self.call(&driver, "main", (main, arguments))?;
        self.after_step(&driver)?;
        while let Some(asked) = self.call::<Option<Array<'js>>>(&driver, "next", ())? {
            let outcome = self.perform(&asked, host)?;
            self.machine.shared.check_time()?;
            let told = match outcome {
                Ok(answer) => {
                    self.machine.shared.hold(answer.held_bytes);
                    (0, answer.json, answer.continuation)
                }
                Err(Refusal { number, message }) => (number, Some(message), None),
            };
            self.call::<Value<'js>>(&driver, "settle", told)?;
            self.after_step(&driver)?;
        }
        self.check_promises(&returned)?;
        self.outcome(&driver)
    }

    fn call<R: rquickjs::FromJs<'js>>(
        &self,
        driver: &Object<'js>,
        name: &str,
        args: impl rquickjs::function::IntoArgs<'js>,
    ) -> Result<R, ScriptError> {
        let function: Function<'js> = driver.get(name).map_err(broken)?;
        let answer = function.call(args).map_err(|error| self.machine.describe(&self.ctx, error));
        // The time may be up even though a script that catches everything ended normally.
        self.machine.shared.check_time()?;
        answer
    }

    fn arguments(&self, call: Call<'_>) -> Result<Value<'js>, ScriptError> {
        let Call::Procedure { arguments } = call else {
            return Array::new(self.ctx.clone()).map(Array::into_value).map_err(broken);
        };
        self.ctx.json_parse(arguments).map_err(|error| self.machine.describe(&self.ctx, error))
    }

    fn after_step(&self, driver: &Object<'js>) -> Result<(), ScriptError> {
        self.machine.run_jobs(&self.ctx)?;
        match self.call::<Option<Object<'js>>>(driver, "aborted", ())? {
            None => Ok(()),
            Some(aborted) => {
                let reason: Value<'js> = aborted.get("reason").map_err(broken)?;
                Err(self.machine.thrown_value(&self.ctx, &reason))
            }
        }
    }

    fn perform(
        &self,
        asked: &Array<'js>,
        host: &mut dyn Host,
    ) -> Result<Result<crate::call::Answer, Refusal>, ScriptError> {
        let text = |at: usize| -> Result<Option<String>, ScriptError> {
            asked
                .get::<Option<rquickjs::String<'js>>>(at)
                .and_then(|text| text.map(|text| text.to_string()).transpose())
                .map_err(broken)
        };
        let (kind, target, body) = (text(0)?.unwrap_or_default(), text(1), text(3));
        let Ok(target) = target.map(Option::unwrap_or_default) else {
            let message = "The link has half of a surrogate pair.".to_owned();
            return Ok(Err(Refusal { number: 400, message }));
        };
        let is_rid = asked.get::<Option<bool>>(2).map_err(broken)?.unwrap_or(false);
        let document = if is_rid { Document::Rid(&target) } else { Document::Id(&target) };
        let options = Json::parse(&text(4)?.unwrap_or_default()).unwrap_or(Json::Undefined);
        let body = body?.unwrap_or_default();
        let body = body.as_str();
        let writing =
            WriteOptions { etag: string(&options, "etag"), index_action: string(&options, "indexAction") };
        Ok(host.perform(match kind.as_str() {
            "create" => Operation::Create { body, options: writing },
            "upsert" => Operation::Upsert { body, options: writing },
            "read" => Operation::Read { document },
            "replace" => Operation::Replace { document, body, options: writing },
            "delete" => Operation::Delete { document, options: writing },
            _ => Operation::Query {
                question: body,
                items_max: items_max(&options),
                continuation: string(&options, "continuation"),
            },
        }))
    }

    /// An unhandled promise rejection is an error of the script, as if it had been thrown.
    fn check_promises(&self, returned: &Value<'js>) -> Result<(), ScriptError> {
        if let Some(promise) = returned.as_promise()
            && promise.state() == PromiseState::Rejected
        {
            return match promise.result::<Value<'js>>() {
                Some(Err(error)) => Err(self.machine.describe(&self.ctx, error)),
                _ => Ok(()),
            };
        }
        if self.machine.shared.rejections() > 0 {
            let message = "Error: a promise was rejected, and the script does not catch it".to_owned();
            return Err(ScriptError::Thrown { message, stack: String::new(), number: None });
        }
        Ok(())
    }

    fn outcome(&self, driver: &Object<'js>) -> Result<Option<String>, ScriptError> {
        let body: Option<String> = self.call(driver, "outcome", ())?;
        let bytes_max = self.machine.shared.limits.output_bytes_max;
        match body {
            Some(body) if body.len() > bytes_max => {
                Err(ScriptError::OutputTooLarge { bytes: body.len(), bytes_max })
            }
            body => Ok(body),
        }
    }
}

/// The request and the response in the prelude's form.
fn given(call: Call<'_>, values: &str) -> String {
    let member =
        |name: &str, text: Option<&str>| text.map_or(String::new(), |text| format!(",\"{name}\":{text}"));
    let (body, operation, answer, before) = match call {
        Call::Procedure { arguments } => (Some(arguments), None, None, false),
        Call::Before { on, document } => (document, Some(on), None, true),
        Call::After { on, document, written } => (document, Some(on), written, false),
    };
    let operation = operation.map(|on| format!("\"{}\"", on.as_str()));
    let mut text = format!("{{\"values\":{values},\"before\":{before}");
    text += &member("body", body);
    text += &member("operation", operation.as_deref());
    text += &member("answer", answer);
    text + ",\"quota\":\"\",\"usage\":\"\"}"
}

fn string<'a>(options: &'a Json, name: &str) -> Option<&'a str> {
    match options.member(name) {
        Json::String(text) => Some(text),
        _ => None,
    }
}

fn items_max(options: &Json) -> Option<usize> {
    match options.member("pageSize") {
        Json::Undefined | Json::Null => Some(crate::limits::SCRIPT_PAGE_ITEMS_DEFAULT),
        size => size.to_json().parse::<usize>().ok(),
    }
}
