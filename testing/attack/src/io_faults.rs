//! Disks that fail: a small C library, loaded before the server, makes writes and syncs of the data folder fail on demand.
//!
//! A write that meets such a failure is answered with 503 and says that its outcome is unknown; later ones say that nothing of
//! them was stored and that a restart is needed; reads go on; the log gets a line a second and not one for each refusal.
//! After a restart everything acknowledged is there, and writes are taken.

use orrery_attack::{Arena, Caller};
use orrery_testing_client::{ContainerPath, OwnedReply, ServerProcess};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const SHIM: &str = include_str!("io_faults.c");
const EIO: &str = "5";
const ENOSPC: &str = "28";
/// Refused writes per fault; each may log, and only a few may.
const REFUSALS: usize = 200;

pub fn failed_sync(arena: &Arena) -> Result<(), String> {
    fail(arena, &format!("sync {EIO}"))
}

pub fn failed_write(arena: &Arena) -> Result<(), String> {
    fail(arena, &format!("write {EIO}"))
}

pub fn full_to_the_last_byte(arena: &Arena) -> Result<(), String> {
    fail(arena, &format!("write {ENOSPC}"))
}

fn fail(arena: &Arena, fault: &str) -> Result<(), String> {
    let faults = Faults::new(arena)?;
    for round in 0..arena.rounds(1, 10) {
        let folder = arena.data().join(round.to_string());
        let mut server = faults.start(arena, &folder)?;
        let mut caller = arena.caller(&server);
        let container = caller.make_items(20)?;
        faults.set(fault)?;
        let begun = Instant::now();
        let refused = (0..REFUSALS)
            .map(|n| create(&mut caller, &container, &format!("refused-{n}")))
            .collect::<Result<Vec<_>, _>>()?;
        for (n, reply) in refused.iter().enumerate() {
            let message = String::from_utf8_lossy(&reply.body).into_owned();
            let expected = if n == 0 { "unknown" } else { "restart" };
            if reply.status != 503 || !message.contains(expected) {
                return Err(format!(
                    "write {n} after `{fault}` is answered with {}: {message}",
                    reply.status
                ));
            }
        }
        check_log(&server, begun.elapsed())?;
        read_items(&mut caller, &container)?;
        // The disk is well again, and the folder still takes no writes: a sync must not be repeated on the same file.
        faults.set("nothing")?;
        let reply = create(&mut caller, &container, "later")?;
        if reply.status != 503 {
            return Err(format!("after `{fault}` a write is taken without a restart ({})", reply.status));
        }
        arena.check_well(&mut server)?;
        drop(caller);
        server.stop().map_err(|error| error.to_string())?;
        let server = faults.start(arena, &folder)?;
        let mut caller = arena.caller(&server);
        read_items(&mut caller, &container)?;
        // The write whose outcome was unknown may be there; those after it may not.
        let first = caller.call(&container.read("p", "refused-0"))?.status;
        let second = caller.call(&container.read("p", "refused-1"))?.status;
        let later = create(&mut caller, &container, "later")?.status;
        if !matches!((first, second, later), (200 | 404, 404, 201)) {
            return Err(format!("after a restart: {first}, {second} and a write with {later}"));
        }
    }
    Ok(())
}

fn create(caller: &mut Caller<'_>, container: &ContainerPath, id: &str) -> Result<OwnedReply, String> {
    caller.call(&container.create("p", json!({"id": id, "pk": "p"}).to_string()))
}

fn read_items(caller: &mut Caller<'_>, container: &ContainerPath) -> Result<(), String> {
    (0..20).try_for_each(|n| caller.expect(200, &container.read("p", &n.to_string())).map(drop))
}

/// A line a second at most, and a few about the failure itself.
fn check_log(server: &ServerProcess, lasted: Duration) -> Result<(), String> {
    let log = server.whole_log();
    let lines = log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    let most = lasted.as_secs() as usize + 5;
    if lines == 0 || lines > most {
        return Err(format!(
            "{lines} lines of trouble in {lasted:?}; at most {most} were expected:\n{}",
            server.log()
        ));
    }
    Ok(())
}

/// The library and the file that tells it what to do.
struct Faults {
    library: PathBuf,
    control: PathBuf,
}

impl Faults {
    fn new(arena: &Arena) -> Result<Self, String> {
        let (source, library) = (arena.scratch().join("faults.c"), arena.scratch().join("faults.so"));
        fs::write(&source, SHIM).map_err(|error| error.to_string())?;
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source);
        let compiled = compiler.status().map_err(|error| format!("no C compiler: {error}"))?;
        if !compiled.success() {
            return Err("the library that makes disks fail could not be compiled".to_owned());
        }
        Ok(Self { library, control: arena.scratch().join("faults.txt") })
    }

    fn start(&self, arena: &Arena, folder: &Path) -> Result<ServerProcess, String> {
        self.set("nothing")?;
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        let environment = [
            ("LD_PRELOAD", OsString::from(&self.library)),
            ("ORRERY_FAULT_FOLDER", OsString::from(&folder)),
            ("ORRERY_FAULT_CONTROL", OsString::from(&self.control)),
        ];
        arena.start_on(&folder, &[], &environment)
    }

    fn set(&self, fault: &str) -> Result<(), String> {
        fs::write(&self.control, fault).map_err(|error| error.to_string())
    }
}
