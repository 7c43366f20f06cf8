//! A process that is killed: the test that asks for it, started again and told by a variable what it is.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts this test again, told where its folder is, and kills it with `kill -9` when a line that it said is enough. What it said
/// before it was killed counts, however late it is read.
pub fn kill_when_enough(test: &str, variable: &str, folder: &Path, mut is_enough: impl FnMut(&str) -> bool) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(variable, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut is_killed = false;
    for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
        if is_enough(&line.expect("text")) && !is_killed {
            child.kill().expect("killed");
            is_killed = true;
        }
    }
    child.wait().expect("ended");
    assert!(is_killed, "it ended by itself");
}
