//! The machine: what it is, and what a process on it uses. All from `/proc` and a few commands.

use crate::error::Error;
use orrery_core::Env;
use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a process may take to put away what it was filled with.
const SETTLE_MAX: Duration = Duration::from_secs(60);
/// How often it is looked at, and the processor time between two looks that counts as none.
const SETTLE_LOOK: Duration = Duration::from_millis(500);
const SETTLED_CPU_SECONDS: f64 = 0.02;
/// So many such looks in a row: the server puts away what is in memory when nobody wrote for some seconds.
const SETTLED_LOOKS: u32 = 10;

/// What a result is worth nothing without.
#[derive(Clone, Debug)]
pub struct Machine {
    pub date: String,
    pub commit: String,
    pub cpu: String,
    pub cores: usize,
    pub memory_mb: u64,
    pub kernel: String,
}

impl Machine {
    pub fn here() -> Self {
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            date: Env::system().map(|env| env.now().to_http()).unwrap_or_default(),
            commit: commit(),
            cpu: field(&cpuinfo, "model name").unwrap_or("unknown").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mb: kilobytes(&meminfo, "MemTotal").unwrap_or_default() / 1024,
            kernel: output("uname", &["-sr"]).unwrap_or_default(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { date, commit, cpu, cores, memory_mb, kernel } = self;
        write!(f, "{date}, commit {commit}; {cpu}, {cores} cores, {memory_mb} MB, {kernel}")
    }
}

/// Resident memory of a process, in MB.
pub fn resident_mb(process: u32) -> Result<f64, Error> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(path).map_err(|e| Error::Io("no /proc status", e))?;
    let kilobytes = kilobytes(&status, "VmRSS");
    kilobytes.map(|kb| kb as f64 / 1024.0).ok_or(Error::Unexpected("no VmRSS in /proc".to_owned()))
}

/// Processor time a process has used, in seconds, to the hundredth.
pub fn cpu_seconds(process: u32) -> Result<f64, Error> {
    let path = format!("/proc/{process}/stat");
    let stat = std::fs::read_to_string(path).map_err(|e| Error::Io("no /proc stat", e))?;
    parse_cpu_seconds(&stat).ok_or(Error::Unexpected("no times in /proc".to_owned()))
}

/// Bytes that a process and those it started have given to the disk, as far as the system counts them: a page that
/// is written twice before it goes out counts once.
pub fn written_bytes(process: u32) -> Result<u64, Error> {
    let of = |process: u32| parse_written(&std::fs::read_to_string(format!("/proc/{process}/io")).ok()?);
    let own = of(process).ok_or(Error::Unexpected("no write_bytes in /proc".to_owned()))?;
    // What ended already was added to its parent by the system.
    Ok(own + children(process).into_iter().filter_map(of).sum::<u64>())
}

/// Waits until a process does nothing of its own accord any more.
pub fn settle(process: u32) -> Result<(), Error> {
    let until = Instant::now() + SETTLE_MAX;
    let (mut before, mut looks) = (cpu_seconds(process)?, 0);
    while looks < SETTLED_LOOKS && Instant::now() < until {
        std::thread::sleep(SETTLE_LOOK);
        let now = cpu_seconds(process)?;
        looks = if now - before < SETTLED_CPU_SECONDS { looks + 1 } else { 0 };
        before = now;
    }
    Ok(())
}

/// Pins all threads of this process to the cores, as `taskset` names them.
pub fn pin_self(cores: &str) -> Result<(), Error> {
    let process = std::process::id().to_string();
    output("taskset", &["-acp", cores, &process])
        .map(|_| ())
        .ok_or(Error::Missing("`taskset` is needed to pin to cores (Debian package util-linux)".to_owned()))
}

/// Bytes of all files in a folder.
pub fn folder_bytes(folder: &std::path::Path) -> u64 {
    let text = output("du", &["-sb", &folder.to_string_lossy()]).unwrap_or_default();
    text.split_whitespace().next().and_then(|bytes| bytes.parse().ok()).unwrap_or_default()
}

/// What a command printed, if it went well.
pub fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let done = Command::new(command).args(arguments).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

fn children(process: u32) -> Vec<u32> {
    let listed = output("ps", &["--ppid", &process.to_string(), "-o", "pid="]).unwrap_or_default();
    listed.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn commit() -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let Some(commit) = output("git", &["-C", root, "rev-parse", "--short", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match output("git", &["-C", root, "status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.split_whitespace().next()?.parse().ok()
}

fn parse_written(io: &str) -> Option<u64> {
    field(io, "write_bytes")?.parse().ok()
}

/// User and system time are the 14th and 15th field, in ticks of 10 ms; the 2nd is a name that may hold spaces.
fn parse_cpu_seconds(stat: &str) -> Option<f64> {
    let after_name = stat.rsplit_once(')')?.1;
    let mut fields = after_name.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 1 0 100 1000 10";
        assert_eq!(parse_cpu_seconds(stat), Some(2.0));
        assert_eq!(parse_cpu_seconds("nothing"), None);
    }

    #[test]
    fn what_was_cancelled_is_not_taken_for_what_was_written() {
        let io = "rchar: 9\nwchar: 8\nread_bytes: 7\nwrite_bytes: 4096\ncancelled_write_bytes: 5\n";
        assert_eq!(parse_written(io), Some(4096));
        assert_eq!(parse_written("write_bytes: many"), None);
    }

    #[test]
    fn this_process_has_memory_and_time() {
        assert!(resident_mb(std::process::id()).unwrap() > 0.5);
        assert!(cpu_seconds(std::process::id()).unwrap() >= 0.0);
    }
}
