//! Hostile scripts: native calls that take minutes, as many at once as scripts may run. Each is answered with 408 in time,
//! other scripts run beside them, and no process outlives the server.

use orrery_attack::Arena;
use orrery_testing_client::{ContainerPath, Method, Request, ServerProcess};
use serde_json::json;
use std::time::{Duration, Instant};

/// As many as there are slots for scripts. None of the calls looks at a clock.
const HOSTILE: [&str; 8] = [
    "const s = 'a'.repeat(1 << 22); for (;;) s.replaceAll('a', 'b')",
    "const a = new Float64Array(4e6); for (;;) a.sort()",
    "('a' + '\\u0300\\u0316'.repeat(1e6)).normalize()",
    "/^(a+)+$/.test('a'.repeat(50) + 'b')",
    "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
    "const a = 'a'.repeat(2e7), b = a.slice(0, -1) + 'b'; for (;;) a < b",
    "Array(4294967295).indexOf(1)",
    "for (;;) try { for (;;) {} } catch {}",
];

/// A script's time is 5 s; more than this is not a script's time any more.
const ANSWER_SECONDS_MAX: u64 = 10;
/// How long the server may take to end after SIGTERM.
const STOP_SECONDS_MAX: u64 = 20;
/// How long the processes may take to end after the server has.
const ORPHAN_SECONDS_MAX: u64 = 5;
/// How long scripts may take to be under way.
const START_SECONDS_MAX: u64 = 60;
const POLL: Duration = Duration::from_millis(5);

pub fn endless(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    let path = prepare(arena, &server)?;
    for _ in 0..arena.rounds(1, 5) {
        let answers = beside_hostile(arena, &server, || good_one_passes(arena, &server, &path))?;
        for (number, (status, seconds)) in answers.into_iter().enumerate() {
            if status != 408 || seconds > ANSWER_SECONDS_MAX {
                return Err(format!("{} is answered with {status} after {seconds} s", HOSTILE[number]));
            }
        }
    }
    hostile_function(arena, &server)?;
    let left = workers(&server);
    if left.len() > HOSTILE.len() || left.iter().any(|worker| worker.is_zombie) {
        return Err(format!("{} processes are left: {left:?}", left.len()));
    }
    arena.check_well(&mut server)
}

/// SIGTERM while they run.
pub fn stopped(arena: &Arena) -> Result<(), String> {
    let server = arena.start(&[])?;
    prepare(arena, &server)?;
    ended(arena, server, |server| {
        let began = Instant::now();
        let status = server.stop().map_err(|error| error.to_string())?;
        let seconds = began.elapsed().as_secs();
        if !status.success() || seconds > STOP_SECONDS_MAX {
            return Err(format!("the server ended with {status} {seconds} s after SIGTERM"));
        }
        Ok(())
    })
}

/// `kill -9` while they run.
pub fn killed(arena: &Arena) -> Result<(), String> {
    let server = arena.start(&[])?;
    prepare(arena, &server)?;
    ended(arena, server, |server| server.kill().map_err(|error| error.to_string()))
}

/// Makes the container and its scripts: `good`, and a hostile one by each number.
fn prepare(arena: &Arena, server: &ServerProcess) -> Result<ContainerPath, String> {
    let mut caller = arena.caller(server);
    let path = caller.make_items(1)?;
    let bodies = HOSTILE.iter().enumerate().map(|(number, body)| (number.to_string(), *body));
    for (id, body) in bodies.chain([("good".to_owned(), "__.response.setBody(1)")]) {
        let script = json!({"id": id, "body": format!("function () {{ {body} }}")});
        let request = Request::new(Method::Post, "dbs/d/colls/c/sprocs").body(script.to_string());
        caller.expect(201, &request)?;
    }
    Ok(path)
}

fn execute(id: &str) -> Request {
    Request::new(Method::Post, format!("dbs/d/colls/c/sprocs/{id}")).partition("p").body("[]")
}

/// Does `work` while every hostile script runs. Returns each one's status and seconds.
fn beside_hostile(
    arena: &Arena,
    server: &ServerProcess,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<Vec<(u16, u64)>, String> {
    std::thread::scope(|scope| {
        let began = Instant::now();
        let run = |number: usize| {
            let mut caller = arena.caller(server);
            move || {
                let reply = caller.call(&execute(&number.to_string()));
                reply.map(|reply| (reply.status, began.elapsed().as_secs()))
            }
        };
        let hostile: Vec<_> = (0..HOSTILE.len()).map(|number| scope.spawn(run(number))).collect();
        all_run(server)?;
        work()?;
        if let Some(ended) = hostile.iter().position(|one| one.is_finished()) {
            return Err(format!("others waited until {} had ended", HOSTILE[ended]));
        }
        hostile.into_iter().map(|one| one.join().map_err(|_| "a client panicked".to_owned())?).collect()
    })
}

/// Waits until there is a process for every hostile script.
fn all_run(server: &ServerProcess) -> Result<(), String> {
    let until = Instant::now() + Duration::from_secs(START_SECONDS_MAX);
    while workers(server).len() < HOSTILE.len() {
        if Instant::now() > until {
            return Err(format!("{} scripts run, instead of all", workers(server).len()));
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn good_one_passes(arena: &Arena, server: &ServerProcess, path: &ContainerPath) -> Result<(), String> {
    let mut caller = arena.caller(server);
    caller.expect(200, &execute("good"))?;
    caller.expect(201, &path.create("p", json!({"id": "beside", "pk": "p"}).to_string()))?;
    caller.expect(204, &path.delete("p", "beside", None))?;
    Ok(())
}

fn hostile_function(arena: &Arena, server: &ServerProcess) -> Result<(), String> {
    let mut caller = arena.caller(server);
    let function = json!({"id": "h", "body": format!("function () {{ {} }}", HOSTILE[0])});
    let made = Request::new(Method::Post, "dbs/d/colls/c/udfs").body(function.to_string());
    caller.expect(201, &made)?;
    let query = json!({"query": "SELECT VALUE udf.h(c.n) FROM c", "parameters": []});
    let asked = Request::new(Method::Post, "dbs/d/colls/c/docs")
        .partition("p")
        .header("x-ms-documentdb-isquery", "True")
        .body(query.to_string());
    caller.expect(408, &asked).map(drop)
}

/// Ends the server in the middle of all hostile scripts, and checks that none of their processes is left.
fn ended(
    arena: &Arena,
    server: ServerProcess,
    end: impl FnOnce(ServerProcess) -> Result<(), String>,
) -> Result<(), String> {
    std::thread::scope(|scope| {
        for number in 0..HOSTILE.len() {
            let mut caller = arena.caller(&server);
            // What the client is told when its server goes is not the question here.
            scope.spawn(move || drop(caller.call(&execute(&number.to_string()))));
        }
        all_run(&server)?;
        let started = workers(&server);
        end(server)?;
        let until = Instant::now() + Duration::from_secs(ORPHAN_SECONDS_MAX);
        let is_left = |worker: &Worker| Worker::read(worker.process).is_some_and(|found| !found.is_zombie);
        while let Some(left) = started.iter().find(|worker| is_left(worker)) {
            if Instant::now() > until {
                return Err(format!("the process {} outlived the server", left.process));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    })
}

/// A process that runs scripts.
#[derive(Debug)]
struct Worker {
    process: u32,
    parent: u32,
    is_zombie: bool,
}

impl Worker {
    /// `None` if there is no such process, or it does something else.
    fn read(process: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name in parentheses may have anything in it.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let is_zombie = fields.next()? == "Z";
        let parent = fields.next()?.parse().ok()?;
        let command = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let is_worker = is_zombie || String::from_utf8_lossy(&command).contains("script-worker");
        is_worker.then_some(Self { process, parent, is_zombie })
    }
}

/// The processes that a server runs scripts in, and children of it that nobody has waited for.
fn workers(server: &ServerProcess) -> Vec<Worker> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
    numbers.filter_map(Worker::read).filter(|worker| worker.parent == server.process_id()).collect()
}
