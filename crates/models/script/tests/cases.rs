//! Runs `cases/*.case`: scripts against a partition in memory.
//!
//! A case is lines of a keyword and its text; a line that starts with a space goes on with the text before it, `#`
//! starts a comment.
//!
//! ```text
//! docs    {"id":"a"} {"id":"b"}     what the partition holds, until the next `docs`
//! body    function (x) { … }        the script, until the next `body`
//! limit   operations 3              for the next call: operations, written, output, log, accept or millis
//! clock   100                       for the next call: each look at the clock takes so many milliseconds
//! call    [1]                       runs it as a procedure; or `pre Create {…}`, `post Delete {…} {…}`
//! gives   3                         the body of its response, or `nothing`
//! left    {"id":"a"}                what the partition holds then; after an error, nothing has changed
//! log     first⏎                    what it logged (`⏎` is a line break)
//! error   part of the message       what it came to instead; `error #404 part` has that number too
//! fn      x => x + 1                a user-defined function, and its calls: `-` is undefined
//! is      1 => 2
//! bad     1 => part of the message
//! ```

#[path = "support/partition.rs"]
mod partition;

use orrery_script::{Call, Ended, Failed, Isolation, Limits, On, ScriptContext, ScriptError, Scripts};
use orrery_testing_golden::{Line, case_files, lines};
use orrery_value::Value;
use partition::Partition;
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

struct Case {
    /// Where calls run. A call with a test clock runs on the thread, where that clock can be read.
    scripts: Scripts,
    docs: String,
    body: String,
    limits: Limits,
    step: u64,
    partition: Partition,
    ended: Option<Result<Ended, Failed>>,
    function: String,
}

impl Case {
    fn new(isolation: Isolation) -> Self {
        Self {
            scripts: Scripts::new(isolation).expect("processes can be started"),
            docs: String::new(),
            body: String::new(),
            limits: Limits::default(),
            step: 0,
            partition: Partition::default(),
            ended: None,
            function: String::new(),
        }
    }

    fn line(&mut self, line: &Line) {
        let text = line.text.as_str();
        match line.keyword.as_str() {
            "docs" => self.docs = text.to_owned(),
            "body" => self.body = text.to_owned(),
            "limit" => self.limit(text),
            "clock" => self.step = text.parse().expect("a number"),
            "call" => self.call(Call::Procedure { arguments: if text.is_empty() { "[]" } else { text } }),
            "pre" | "post" => self.trigger(line.keyword == "pre", text),
            "gives" => {
                let body = self.success().body.clone().unwrap_or_else(|| "nothing".to_owned());
                assert_eq!(body, text);
            }
            "log" => assert_eq!(self.log().replace('\n', "⏎"), text),
            "left" => assert_eq!(self.partition.to_text(), text),
            "error" => self.error(text),
            "fn" => self.function = text.to_owned(),
            "is" => self.is(text),
            "bad" => self.bad(text),
            other => panic!("no keyword {other}"),
        }
    }

    fn limit(&mut self, text: &str) {
        let (name, value) = text.split_once(' ').expect("a name and a number");
        let value: u64 = value.trim().parse().expect("a number");
        match name {
            "operations" => self.limits.operations_max = value,
            "written" => self.limits.written_bytes_max = value as usize,
            "output" => self.limits.output_bytes_max = value as usize,
            "log" => self.limits.log_bytes_max = value as usize,
            "accept" => self.limits.accept_millis_max = value,
            "millis" => self.limits.millis_max = value,
            other => panic!("no limit {other}"),
        }
    }

    fn trigger(&mut self, is_pre: bool, text: &str) {
        let (on, rest) = text.split_once(' ').unwrap_or((text, ""));
        let on = match on {
            "Create" => On::Create,
            "Upsert" => On::Upsert,
            "Replace" => On::Replace,
            "Delete" => On::Delete,
            other => panic!("no operation {other}"),
        };
        let values = split(rest);
        let at = |at: usize| values.get(at).map(String::as_str);
        match is_pre {
            true => self.call(Call::Before { on, document: at(0) }),
            false => self.call(Call::After { on, document: at(0), written: at(1) }),
        }
    }

    fn call(&mut self, call: Call<'_>) {
        self.partition = Partition::new(split(&self.docs));
        let (ticks, step) = (Cell::new(0), self.step);
        let elapsed = Rc::new(move || ticks.replace(ticks.get() + step));
        let context = ScriptContext {
            name: "script",
            self_link: "dbs/AAAAAA==/colls/AAAAAAAAAAA=/",
            alt_link: "dbs/d/colls/c",
            values: r#"{"x-ms-version":"2020-07-15"}"#,
            now_ms: 1_714_979_289_123,
            seed: 7,
            limits: self.limits,
            elapsed,
        };
        let on_thread = Scripts::new(Isolation::Thread).expect("nothing to start");
        let scripts = if self.step == 0 { &self.scripts } else { &on_thread };
        let ended = scripts.run(&self.body, call, &context, &mut self.partition);
        if ended.is_err() {
            self.partition = Partition::new(split(&self.docs));
        }
        self.ended = Some(ended);
        (self.limits, self.step) = (Limits::default(), 0);
    }

    fn success(&self) -> &Ended {
        let ended = self.ended.as_ref().expect("a call comes first");
        ended.as_ref().unwrap_or_else(|failed| panic!("{}", failed.error))
    }

    fn log(&self) -> &str {
        match self.ended.as_ref().expect("a call comes first") {
            Ok(ended) => &ended.log,
            Err(failed) => &failed.log,
        }
    }

    fn error(&self, text: &str) {
        let ended = self.ended.as_ref().expect("a call comes first");
        let error = &ended.as_ref().expect_err("the script fails").error;
        let text = match text.strip_prefix('#') {
            None => text,
            Some(text) => {
                let (number, text) = text.split_once(' ').unwrap_or((text, ""));
                let ScriptError::Thrown { number: found, .. } = error else { panic!("{error}") };
                assert_eq!(found.map(|found| found.to_string()).as_deref(), Some(number));
                text
            }
        };
        assert!(error.to_string().contains(text), "{error}");
    }

    fn function(&self, args: &str) -> Result<Value, ScriptError> {
        let mut functions = self.scripts.functions(1_714_979_289_123, 7, Rc::new(|| 0))?;
        functions.define("f", &self.function)?;
        let args: Vec<Value> = words(args).iter().map(|arg| value(arg)).collect();
        functions.call("f", &args)
    }

    fn is(&self, text: &str) {
        let (args, expected) = text.rsplit_once("=>").expect("=>");
        let found = self.function(args).unwrap_or_else(|error| panic!("{error}"));
        let shown = if found.is_undefined() { "-".to_owned() } else { found.to_json() };
        assert_eq!(shown, expected.trim());
    }

    fn bad(&self, text: &str) {
        let (args, part) = text.rsplit_once("=>").expect("=>");
        let error = self.function(args).expect_err("the function fails").to_string();
        assert!(error.contains(part.trim()), "{error}");
    }
}

fn value(text: &str) -> Value {
    if text == "-" { Value::Undefined } else { Value::parse(text).expect("JSON") }
}

/// Consecutive JSON values.
fn split(text: &str) -> Vec<String> {
    words(text)
}

/// Top-level values, split at spaces.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut depth, mut quoted, mut escaped) =
        (Vec::new(), String::new(), 0, false, false);
    for character in text.trim().chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            ' ' if !quoted && depth == 0 => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                continue;
            }
            _ => {}
        }
        word.push(character);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[test]
fn every_case_holds_on_a_thread() {
    check_all(&Isolation::Thread);
}

#[test]
fn every_case_holds_in_a_process() {
    check_all(&Isolation::Process(env!("CARGO_BIN_EXE_orrery-script-worker").into()));
}

fn check_all(isolation: &Isolation) {
    let files = case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"), "case");
    assert!(!files.is_empty());
    let mut failures = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let mut case = Case::new(isolation.clone());
        for line in lines(&text) {
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.line(&line)));
            if let Err(panic) = checked {
                let why = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|why| (*why).to_owned()));
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                failures.push(format!("{name}:{}: {}", line.from + 1, why.unwrap_or_default()));
            }
        }
    }
    assert!(failures.is_empty(), "{} lines do not hold:\n{}", failures.len(), failures.join("\n"));
}
