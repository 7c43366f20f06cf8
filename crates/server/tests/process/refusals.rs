//! What keeps a server from starting: one sentence on standard error, exit code 2.

use crate::server::{Server, orrery};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn serve(here: &TempDir) -> Command {
    let mut command = orrery(here.path());
    command.args(["serve", "--free-ports", "--data", "data"]);
    command
}

/// One line, whole, about the mistake; nothing on standard output.
fn refused(mut command: Command, fragments: &[&str]) {
    let output = command.output().unwrap();
    let (said, printed) =
        (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(printed, "");
    assert!(said.starts_with("orrery: ") && said.ends_with('\n') && said.lines().count() == 1, "{said:?}");
    for fragment in fragments {
        assert!(said.contains(fragment), "no {fragment:?} in {said:?}");
    }
}

/// As clap says it: what is wrong, how it is used, and where to read more.
fn misused(mut command: Command, fragments: &[&str]) {
    let output = command.output().unwrap();
    let (said, printed) =
        (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
    assert_eq!((output.status.code(), printed.as_str()), (Some(2), ""), "{said}");
    assert!(!said.contains('\u{1b}'), "no colour into a pipe: {said:?}");
    for fragment in fragments {
        assert!(said.contains(fragment), "no {fragment:?} in {said:?}");
    }
}

fn folder_with(name: &str, text: &str) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("data")).unwrap();
    std::fs::write(here.path().join("data").join(name), text).unwrap();
    here
}

#[test]
fn a_port_that_is_taken() {
    let here = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for flag in ["--cosmos-port", "--services-port"] {
        let mut command = orrery(here.path());
        command.args(["serve", "--data", "data", flag, &port, "--free-ports"]);
        refused(command, &[&format!("port {port} is taken"), &format!("another {flag}")]);
    }
}

#[test]
fn a_folder_that_another_server_holds() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let holder = Server::start(&data, &[]);
    refused(serve(&here), &["in use by another orrery process", "another --data"]);
    holder.stop();
    Server::start(&data, &[]).stop();
}

#[test]
fn a_folder_of_a_newer_format() {
    let here = folder_with("FORMAT", "orrery data folder, format 999\n");
    refused(serve(&here), &["has format 999", "use a newer orrery"]);
}

#[test]
fn a_folder_that_is_somebody_elses() {
    for (name, text) in [("thesis.txt", "mine"), ("FORMAT", "something else")] {
        let here = folder_with(name, text);
        refused(serve(&here), &["is not an orrery data folder"]);
        assert_eq!(
            std::fs::read_to_string(here.path().join("data").join(name)).unwrap(),
            text,
            "it is left alone"
        );
    }
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("data"), "a file").unwrap();
    refused(serve(&here), &["data cannot be used"]);
}

#[test]
fn keys_that_are_damaged() {
    let here = tempfile::tempdir().unwrap();
    Server::start(&here.path().join("data"), &[]).stop();
    std::fs::write(here.path().join("data/keys.json"), "{\"v\":1}").unwrap();
    refused(serve(&here), &["keys.json is damaged", "restore it"]);
}

#[test]
fn flags_that_make_no_sense() {
    let here = tempfile::tempdir().unwrap();
    let misuses: [(&[&str], &[&str]); 5] = [
        (&["--nonsense"], &["unexpected argument '--nonsense'", "try 'orrery serve --help'"]),
        (&["--cosmos-prt", "1"], &["'--cosmos-prt'", "a similar argument exists: '--cosmos-port'"]),
        (&["--cosmos-port", "70000"], &["70000", "--cosmos-port"]),
        (&["--clock", "sundial"], &["invalid value 'sundial'", "possible values: system, manual"]),
        (&["--durability", "maybe"], &["maybe", "possible values: synced, relaxed"]),
    ];
    for (flags, fragments) in misuses {
        let mut command = orrery(here.path());
        command.args(["serve", "--data", "data"]).args(flags);
        misused(command, fragments);
    }
    let cases: [(&[&str], &[&str]); 4] = [
        (&["--host", "nowhere"], &["--host 'nowhere' is not an IP address"]),
        (&["--host", "0.0.0.0", "--clock", "manual"], &["--clock manual", "loopback only", "0.0.0.0"]),
        (&["--log", "a=b=c=d"], &["--log 'a=b=c=d' is not understood"]),
        (&["--config", "gone.toml"], &["gone.toml cannot be read"]),
    ];
    for (flags, fragments) in cases {
        let mut command = orrery(here.path());
        command.args(["serve", "--data", "data"]).args(flags);
        refused(command, fragments);
    }
    assert!(!here.path().join("data").exists(), "a mistake leaves no folder behind");
}

#[test]
fn no_verb_or_an_unknown_one() {
    let here = tempfile::tempdir().unwrap();
    let mut unknown = orrery(here.path());
    unknown.arg("serv");
    misused(
        unknown,
        &["unrecognized subcommand 'serv'", "similar subcommand exists: 'serve'", "'orrery --help'"],
    );
    misused(orrery(here.path()), &["Usage: orrery <COMMAND>", "serve", "Start the server"]);
    let mut without = orrery(here.path());
    without.args(["notify", "ls"]);
    misused(
        without,
        &["required arguments were not provided", "--user <USER>", "try 'orrery notify ls --help'"],
    );
}

#[test]
fn an_environment_that_makes_no_sense() {
    let here = tempfile::tempdir().unwrap();
    let with = |name: &str, value: &str| {
        let mut command = orrery(here.path());
        command.args(["serve", "--data", "data"]).env(name, value);
        command
    };
    misused(with("ORRERY_COSMOS_PORT", "many"), &["invalid value 'many'", "--cosmos-port"]);
    refused(with("ORRERY_HOST", "here"), &["'here' is not an IP address"]);
}

#[test]
fn a_file_that_makes_no_sense() {
    let write = |here: &Path, text: &str| std::fs::write(here.join("orrery.toml"), text).unwrap();
    let here = tempfile::tempdir().unwrap();
    let cases = [
        ("cosmosport = 1", "unknown field `cosmosport`"),
        ("cosmos_port = \"8081\"", "orrery.toml is not understood"),
        ("cosmos_port = 8081\n= 2", "orrery.toml is not understood"),
        ("clock = \"sundial\"", "sundial"),
    ];
    for (text, fragment) in cases {
        write(here.path(), text);
        refused(serve(&here), &["orrery.toml", fragment]);
    }
}
