//! Damaged files: every kind of file of a data folder is flipped, cut or removed. Each time either `orrery check` or the start
//! reports it, or everything that was acknowledged is read back as it was.

use orrery_attack::{Arena, Caller};
use orrery_testing_client::{ContainerPath, Method, Request, ServerProcess};
use orrery_testing_golden::Noise;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PARTITIONS: usize = 3;

/// What was acknowledged: the tag of each item by partition and id. Its body follows from both.
type Acknowledged = BTreeMap<(String, String), String>;

/// Something done to one file.
type Harm = fn(&Path) -> std::io::Result<()>;

/// Flips and cuts each file of a folder that a killed server left, a few times each.
pub fn files(arena: &Arena) -> Result<(), String> {
    let folder = arena.scratch().join("whole");
    let acknowledged = fill(arena, &folder)?;
    let copy = arena.scratch().join("damaged");
    let mut noise = Noise::new(23);
    let (mut tried, mut reported) = (0, 0);
    for (index, path) in all_files(&folder)?.into_iter().enumerate() {
        let bytes = fs::read(&path).map_err(said)?;
        // The journal is mostly zeros that nobody has written yet.
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let inside = path.strip_prefix(&folder).map_err(said)?.to_owned();
        for round in 0..arena.rounds(1, 8) {
            for damage in [Damage::Flip, Damage::Cut] {
                // Keyspaces have the same kinds of files each; the short form flips some and cuts the others.
                let is_one_of_many = inside.starts_with("engine/keyspaces") && !arena.is_long;
                let is_left_out = is_one_of_many && (index % 2 == 0) == (damage == Damage::Flip);
                if used == 0 || is_left_out {
                    continue;
                }
                let at = noise.below(used);
                let damaged = match damage {
                    Damage::Flip => {
                        let mut damaged = bytes.clone();
                        damaged[at] ^= 1 << noise.below(8);
                        damaged
                    }
                    Damage::Cut => bytes[..at].to_vec(),
                };
                copy_folder(&folder, &copy)?;
                fs::write(copy.join(&inside), damaged).map_err(said)?;
                let place = format!("{damage:?} of {} at byte {at}, round {round}", inside.display());
                tried += 1;
                reported +=
                    usize::from(judge(arena, &copy, &acknowledged).map_err(|why| format!("{place}: {why}"))?);
            }
        }
    }
    if reported == 0 || tried < 20 {
        return Err(format!("only {tried} files were damaged and {reported} of them reported"));
    }
    Ok(())
}

/// The note of promises is removed or flipped, then the journal is cut: that must be noticed.
pub fn promises(arena: &Arena) -> Result<(), String> {
    let folder = arena.scratch().join("whole");
    fill(arena, &folder)?;
    let copy = arena.scratch().join("damaged");
    let harms: [(&str, Harm); 3] = [
        ("removed", |path| fs::remove_file(path)),
        ("flipped", |path| {
            let mut bytes = fs::read(path)?;
            bytes[5] ^= 16;
            fs::write(path, bytes)
        }),
        ("emptied", |path| fs::write(path, "")),
    ];
    for (harm, apply) in harms {
        for names in [&["promised"][..], &["promised-copy"], &["promised", "promised-copy"]] {
            copy_folder(&folder, &copy)?;
            for name in names {
                apply(&copy.join(name)).map_err(said)?;
            }
            let place = format!("{names:?} {harm}");
            if check(arena, &copy)?.0 {
                return Err(format!("`orrery check` says nothing of {place}"));
            }
            cut_newest_journal(&copy)?;
            match arena.start_on(&copy, &[], &[]) {
                Ok(_) => return Err(format!("{place} and a cut journal: the server starts")),
                Err(error) if error.contains("acknowledged") => {}
                Err(error) => return Err(format!("{place} and a cut journal: {error}")),
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Flip,
    Cut,
}

/// A folder with rows in tables and in the journal, as a kill leaves it. The first server's rows are put into files when the
/// second has replayed them.
fn fill(arena: &Arena, folder: &Path) -> Result<Acknowledged, String> {
    let mut acknowledged = Acknowledged::new();
    let server = arena.start_on(folder, &[], &[])?;
    let mut caller = arena.caller(&server);
    let container = caller.make_container(&json!({}))?;
    write(&mut caller, &container, 0..60, 200_000, &mut acknowledged)?;
    drop(caller);
    server.kill().map_err(said)?;
    let server = arena.start_on(folder, &[], &[])?;
    let mut caller = arena.caller(&server);
    write(&mut caller, &container, 30..90, 1_000, &mut acknowledged)?;
    drop(caller);
    server.kill().map_err(said)?;
    Ok(acknowledged)
}

fn write(
    caller: &mut Caller<'_>,
    container: &ContainerPath,
    numbers: std::ops::Range<usize>,
    bytes: usize,
    acknowledged: &mut Acknowledged,
) -> Result<(), String> {
    for n in numbers {
        let (partition, id) = (format!("p{}", n % PARTITIONS), n.to_string());
        let item = json!({"id": id, "pk": partition, "bytes": bytes, "text": text(n, bytes)});
        let reply = caller.call(&container.upsert(&partition, item.to_string()))?;
        if !matches!(reply.status, 200 | 201) {
            return Err(format!("an item was answered with {}", reply.status));
        }
        let etag = reply.json().and_then(|item| item["_etag"].as_str().map(str::to_owned));
        acknowledged.insert((partition, id), etag.ok_or("an item without an etag")?);
    }
    Ok(())
}

/// Text that follows from the number and does not get smaller when it is compressed.
fn text(n: usize, bytes: usize) -> String {
    let mut noise = Noise::new(n as u64 + 1);
    let words = std::iter::repeat_with(|| format!("{:016x}", noise.word()));
    words.take(bytes / 16).collect()
}

/// Whether the damage is reported, by the start or by `check`; fails if it is not and the data is not as it was.
fn judge(arena: &Arena, folder: &Path, acknowledged: &Acknowledged) -> Result<bool, String> {
    let (is_well, said_of_it) = check(arena, folder)?;
    if said_of_it.contains("panicked") {
        return Err(format!("`orrery check` panicked: {said_of_it}"));
    }
    if !is_well {
        return Ok(true);
    }
    let Ok(server) = arena.start_on(folder, &[], &[]) else { return Ok(true) };
    let mut caller = arena.caller(&server);
    let account = caller.call(&Request::new(Method::Get, ""))?;
    if account.status == 401 {
        // The keys were damaged, and the published one with them: nothing can be read, so nothing wrong either.
        return Ok(true);
    }
    read_all(&mut caller, acknowledged)?;
    end(server)?;
    Ok(false)
}

fn read_all(caller: &mut Caller<'_>, acknowledged: &Acknowledged) -> Result<(), String> {
    let container = ContainerPath::new("d", "c");
    for ((partition, id), etag) in acknowledged {
        let reply = caller.call(&container.read(partition, id))?;
        let item = reply.json().unwrap_or(Value::Null);
        let (n, bytes) = (id.parse().map_err(said)?, item["bytes"].as_u64().unwrap_or_default());
        let is_right = reply.status == 200
            && item["_etag"].as_str() == Some(etag)
            && item["text"].as_str() == Some(&text(n, bytes as usize));
        if !is_right {
            return Err(format!(
                "nothing was reported, and item {partition}/{id} is answered with {}",
                reply.status
            ));
        }
    }
    Ok(())
}

fn end(server: ServerProcess) -> Result<(), String> {
    server.kill().map_err(said)
}

/// Whether `orrery check` finds nothing, and all it said.
fn check(arena: &Arena, folder: &Path) -> Result<(bool, String), String> {
    let output = Command::new(arena.binary()).arg("check").arg(folder).output().map_err(said)?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

/// Takes the last commits away, as if the file system had lost them.
fn cut_newest_journal(folder: &Path) -> Result<(), String> {
    let number = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
    let journals = all_files(&folder.join("engine"))?;
    let journals = journals.into_iter().filter(|path| path.extension().is_some_and(|end| end == "jnl"));
    let newest = journals.max_by_key(number).ok_or("no journal")?;
    let bytes = fs::read(&newest).map_err(said)?;
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    fs::write(newest, &bytes[..used * 3 / 4]).map_err(said)
}

/// All files below a folder, in order.
fn all_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        if path.is_dir() {
            files.extend(all_files(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Makes the target a copy of the source.
fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    if to.exists() {
        fs::remove_dir_all(to).map_err(said)?;
    }
    fs::create_dir_all(to).map_err(said)?;
    let copied = Command::new("cp").arg("-a").arg("--sparse=always").arg(from.join(".")).arg(to).status();
    if copied.map_err(said)?.success() { Ok(()) } else { Err("the folder could not be copied".to_owned()) }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
