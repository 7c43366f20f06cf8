//! Scripts in processes: whatever a script does, it ends in time and the next one runs.

#[path = "support/partition.rs"]
mod partition;

use orrery_script::{Call, Ended, Isolation, Limits, ScriptContext, ScriptError, Scripts};
use orrery_value::Value;
use partition::Partition;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Instant;

const WORKER: &str = env!("CARGO_BIN_EXE_orrery-script-worker");

fn scripts() -> Scripts {
    Scripts::new(Isolation::Process(WORKER.into())).expect("processes can be started")
}

fn run(scripts: &Scripts, body: &str, millis_max: u64) -> Result<Ended, ScriptError> {
    let began = Instant::now();
    let context = ScriptContext {
        name: "script",
        self_link: "dbs/AAAAAA==/colls/AAAAAAAAAAA=/",
        alt_link: "dbs/d/colls/c",
        values: "{}",
        now_ms: 1_714_979_289_123,
        seed: 7,
        limits: Limits { millis_max, ..Limits::default() },
        elapsed: Rc::new(move || began.elapsed().as_millis() as u64),
    };
    let mut partition = Partition::new(vec![r#"{"id":"a"}"#.to_owned()]);
    let call = Call::Procedure { arguments: "[]" };
    let ended = scripts.run(body, call, &context, &mut partition);
    assert_eq!(partition.to_text(), r#"{"id":"a"}"#, "these scripts only read");
    ended.map_err(|failed| failed.error)
}

fn gives(scripts: &Scripts, body: &str) -> Option<String> {
    run(scripts, body, 60_000).expect("the script ends").body
}

/// Native calls that take minutes, none of which checks a clock.
const ENDLESS: [&str; 9] = [
    "const s = 'a'.repeat(1 << 22); for (;;) s.replaceAll('a', 'b')",
    "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
    "Array(4294967295).indexOf(1)",
    "[Array(4294967295)].flat()",
    "const a = new Float64Array(4e6); for (;;) a.sort()",
    "('a' + '\\u0300\\u0316'.repeat(1e6)).normalize()",
    "/^(a+)+$/.test('a'.repeat(50) + 'b')",
    "const a = 'a'.repeat(2e7), b = a.slice(0, -1) + 'b'; for (;;) a < b",
    "for (;;) try { for (;;) {} } catch {}",
];

#[test]
fn no_native_call_outlives_the_limit() {
    let scripts = scripts();
    for endless in ENDLESS {
        let body = format!("function () {{ {endless} }}");
        assert_eq!(run(&scripts, &body, 100), Err(ScriptError::TooLong { millis_max: 100 }), "{endless}");
        assert_eq!(gives(&scripts, "() => __.response.setBody(1)").as_deref(), Some("1"), "after {endless}");
    }
}

#[test]
fn an_endless_callback_ends_too() {
    let body =
        "function () { __.readDocument(__.getAltLink() + '/docs/a', () => Array(4294967295).indexOf(1)) }";
    assert_eq!(run(&scripts(), body, 100), Err(ScriptError::TooLong { millis_max: 100 }));
}

#[test]
fn unbounded_memory_is_refused_and_the_next_script_runs() {
    let scripts = scripts();
    for body in [
        "function () { const all = []; for (;;) all.push('x'.repeat(1000) + all.length) }",
        "function () { const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1)) }",
        "function () { __.response.setBody('\\u0800'.repeat(2.9e7)) }",
    ] {
        let error = run(&scripts, body, 60_000).expect_err("too much");
        let is_right = matches!(error, ScriptError::OutOfMemory { .. } | ScriptError::OutputTooLarge { .. });
        assert!(is_right, "{body}: {error}");
        assert_eq!(gives(&scripts, "() => __.response.setBody(1)").as_deref(), Some("1"), "after {body}");
    }
}

#[test]
fn an_oversized_operation_is_refused() {
    let body = "function () { __.queryDocuments(__.getSelfLink(), 'x'.repeat(2e7), (err) => __.response.setBody(err.number)) }";
    assert_eq!(gives(&scripts(), body).as_deref(), Some("413"));
}

#[test]
fn one_run_leaves_nothing_for_the_next() {
    let scripts = scripts();
    let body = "function () { __.response.setBody(typeof globalThis.left); globalThis.left = 1 }";
    for _ in 0..3 {
        assert_eq!(gives(&scripts, body).as_deref(), Some("\"undefined\""));
    }
}

#[test]
fn a_function_that_never_returns_ends_its_session_and_no_other() {
    let scripts = scripts();
    let mut session = scripts.functions(0, 7, Rc::new(|| 0)).expect("a session");
    session
        .define("f", "function (x) { return x === 1 ? Array(4294967295).indexOf(1) : x }")
        .expect("a function");
    let call = |session: &mut orrery_script::Session, text: &str| {
        session.call("f", &[Value::parse(text).expect("JSON")])
    };
    assert_eq!(call(&mut session, "2").expect("a value").to_json(), "2");
    for _ in 0..2 {
        let error = call(&mut session, "1").expect_err("endless");
        assert!(matches!(error, ScriptError::TooLong { .. }), "{error}");
    }
    drop(session);
    let mut session = scripts.functions(0, 7, Rc::new(|| 0)).expect("a session");
    assert!(!session.knows("f"), "what one page defined is not there in the next");
    session.define("f", "x => x + 1").expect("a function");
    assert_eq!(call(&mut session, "1").expect("a value").to_json(), "2");
}

#[test]
fn a_program_that_is_not_a_worker_is_reported() {
    let scripts = Scripts::new(Isolation::Process("/bin/true".into())).expect("it starts");
    let error = run(&scripts, "() => 1", 60_000).expect_err("no worker");
    assert!(matches!(&error, ScriptError::Broken(why) if why.contains("ended")), "{error}");
    assert!(Scripts::new(Isolation::Process(PathBuf::from("/nothing/here"))).is_err());
}

#[test]
fn a_worker_ends_with_its_server_whatever_it_does() {
    let (mut ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let mut worker =
        Command::new(WORKER).stdin(Stdio::from(OwnedFd::from(theirs))).spawn().expect("a worker");
    // A session with a function, and an endless call of it, as encoded messages.
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let frames = [
        [vec![2], vec![0; 16]].concat(),
        [vec![3], text("f"), text("() => Array(4294967295).indexOf(1)")].concat(),
        [vec![4], text("f"), vec![0; 8]].concat(),
    ];
    for frame in &frames {
        ours.write_all(&(frame.len() as u32).to_le_bytes()).expect("written");
        ours.write_all(frame).expect("written");
    }
    // The function is defined, so the call comes next.
    ours.read_exact(&mut [0; 6]).expect("a reply");
    assert!(matches!(worker.try_wait(), Ok(None)), "it works on");
    drop(ours);
    assert!(worker.wait().expect("it ends").success());
}

/// Prints the cost of calls on a thread and in a process: `cargo nextest run -p orrery-script --run-ignored
/// only --no-capture`.
#[test]
#[ignore = "a measurement"]
fn the_cost_of_calls() {
    let began = Instant::now();
    drop(gives(&scripts(), "() => 1"));
    println!("first run, two workers started: {:?}", began.elapsed());
    for isolation in [Isolation::Thread, Isolation::Process(WORKER.into())] {
        let scripts = Scripts::new(isolation.clone()).expect("processes can be started");
        drop(gives(&scripts, "() => 1"));
        let began = Instant::now();
        (0..1000).for_each(|_| drop(gives(&scripts, "() => 1")));
        println!("{isolation:?}: a run {:?}", began.elapsed() / 1000);
        let began = Instant::now();
        drop(gives(
            &scripts,
            "function () { let n = 9999; (function next() { if (n-- > 0) __.readDocument(__.getAltLink() + '/docs/a', next) })() }",
        ));
        println!("{isolation:?}: an operation {:?}", began.elapsed() / 9999);
        let mut session = scripts.functions(0, 7, Rc::new(|| 0)).expect("a session");
        session.define("f", "x => x + 1").expect("a function");
        let args = [Value::parse("1").expect("JSON")];
        let began = Instant::now();
        (0..100_000).for_each(|_| drop(session.call("f", &args).expect("a value")));
        println!("{isolation:?}: a call of a function {:?}", began.elapsed() / 100_000);
    }
}
