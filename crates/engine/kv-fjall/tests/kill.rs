//! A process that writes and removes texts, and merges what is left of them, is killed with `kill -9` again and again: every
//! text that it said is there is there, none that it said is gone comes back, and the disk does not fill with those.
//!
//! The process is this test again, signals by a variable what it is. It says what it is about to do and what it has done.

mod support;

use bytes::Bytes;
use orrery_core::Lsn;
use orrery_kv::contract::{OVERFLOW, SPACES};
use orrery_kv::{Batch, Db, Read, Sync, overflow_key};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use support::kill_when_enough;

const FOLDER: &str = "ORRERY_TEST_TEXTS";
const ROUNDS: u64 = 6;
/// A round ends when so many commits were noted in it, and a few more or less.
const COMMITS_A_ROUND: usize = 250;
const TEXTS_A_COMMIT: u64 = 8;
const TEXT_BYTES: usize = 40_000;
const LIVE: usize = 1_800;
/// Commits in each segment that is used, and LSNs per segment. Four ring slots are used.
const COMMITS_A_SEGMENT: u64 = 8;
const SEGMENT_COMMITS: u64 = 65_536;
const SEGMENT_SLOTS: u64 = 16;

fn open(path: &Path) -> Db {
    let engine =
        FjallEngine::open(Folder::open(path).expect("taken"), &SPACES, &Options::default()).expect("opened");
    Db::open(Box::new(engine), Sync::Data).expect("opened")
}

/// One that cannot be compressed.
fn text(name: Name) -> Bytes {
    let mut state = name.0 * 31 + name.1 + 1;
    let mut bytes = Vec::with_capacity(TEXT_BYTES);
    while bytes.len() < TEXT_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_be_bytes());
    }
    Bytes::from(bytes)
}

/// A text by its commit and its number there.
type Name = (u64, u64);

/// What was said last of each text: `+` there, `-` gone, `?` about to be one of both.
type Said = BTreeMap<Name, char>;

/// Of no text, but how often texts were reclaimed.
const RECLAIMED: char = 'g';

/// What a line says; nothing if it is cut, or not one of the process's own.
fn read(line: &str) -> Option<(Name, char)> {
    let mut parts = line.split(' ');
    let said = parts.next()?.chars().next()?;
    let name = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().filter(|end| *end == ".").map(|_| (name, said))
}

/// Writes until it is killed.
fn write_values(folder: &Path) -> ! {
    let db = open(&folder.join("data"));
    let known = fs::read_to_string(folder.join("live")).expect("what is there");
    let mut live: Vec<Name> = known.lines().filter_map(read).map(|(name, _)| name).collect();
    let mut out = BufWriter::new(io::stdout());
    let mut commits = 0;
    let mut lsn = db.tip().lsn.0;
    loop {
        commits += 1;
        lsn = if commits % COMMITS_A_SEGMENT == 0 { next_generation(lsn) } else { lsn + 1 };
        let mut batch = Batch::new();
        let came: Vec<Name> = (0..TEXTS_A_COMMIT).map(|number| (lsn, number)).collect();
        for name in &came {
            assert_eq!(u64::from(batch.put_overflow(OVERFLOW, text(*name))), name.1);
        }
        // Of the oldest, most; some stay for long.
        let count = live.len().saturating_sub(LIVE).min(2 * TEXTS_A_COMMIT as usize);
        let gone: Vec<Name> = live.iter().take(2 * count).step_by(2).copied().collect();
        for (lsn, number) in &gone {
            batch.put_blind(OVERFLOW, overflow_key(Lsn(*lsn), *number as u32), None);
        }
        say(&mut out, '?', came.iter().chain(&gone));
        db.commit(vec![batch.stamp(Lsn(lsn))]).expect("committed");
        say(&mut out, '+', came.iter());
        say(&mut out, '-', gone.iter());
        live.retain(|name| !gone.contains(name));
        live.extend(came);
        say(&mut out, RECLAIMED, [(measure(&db, "slices_gathered"), 0)].iter());
    }
}

/// The first LSN of the next segment, of the four ring slots that are used.
fn next_generation(lsn: u64) -> u64 {
    let segment = lsn / SEGMENT_COMMITS;
    let next = if segment % SEGMENT_SLOTS < 3 {
        segment + 1
    } else {
        segment - segment % SEGMENT_SLOTS + SEGMENT_SLOTS
    };
    next * SEGMENT_COMMITS
}

fn line(said: char, (lsn, number): Name) -> String {
    format!("{said} {lsn} {number} .\n")
}

fn say<'a>(out: &mut impl Write, said: char, names: impl Iterator<Item = &'a Name>) {
    names.for_each(|name| out.write_all(line(said, *name).as_bytes()).expect("said"));
    out.flush().expect("said");
}

#[test]
fn overflow_values_survive_kills_while_they_are_removed_and_reclaimed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write_values(folder.as_ref());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (mut said, mut reclaimed) = (Said::new(), 0);
    for round in 0..ROUNDS {
        // Each round is ended at another moment of its work.
        let commits = COMMITS_A_ROUND + 7 * round as usize;
        reclaimed += kill_after(folder.path(), commits * TEXTS_A_COMMIT as usize, &mut said);
        check(&open(&data), &said, round);
    }
    assert!(reclaimed > 0, "nothing was reclaimed in any round");
    let stored = measure(&open(&data), "tables_size");
    let gone = said.values().filter(|said| **said == '-').count() * TEXT_BYTES;
    let live = said.len() * TEXT_BYTES - gone;
    assert!(stored < (live + gone / 2) as u64, "{stored} bytes on the disk for {live}, and {gone} removed");
}

fn measure(db: &Db, name: &str) -> u64 {
    db.measures().iter().find(|measure| measure.name == name).expect("measured").value
}

/// Starts the process, and kills it when it has written so many texts. Says how often it reclaimed.
fn kill_after(folder: &Path, texts: usize, said: &mut Said) -> u64 {
    let mut live = String::new();
    said.iter().filter(|(_, said)| **said == '+').for_each(|(name, _)| live += &line('+', *name));
    fs::write(folder.join("live"), live).expect("written");
    let (mut written, mut reclaimed) = (0, 0);
    kill_when_enough(
        "overflow_values_survive_kills_while_they_are_removed_and_reclaimed",
        FOLDER,
        folder,
        |line| {
            match read(line) {
                Some((name, RECLAIMED)) => reclaimed = name.0,
                Some((name, what)) => {
                    said.insert(name, what);
                    written += usize::from(what == '+');
                }
                None => {}
            }
            written >= texts
        },
    );
    reclaimed
}

fn check(db: &Db, said: &Said, round: u64) {
    let snapshot = db.snapshot();
    for (name, said) in said {
        let found = snapshot.get(OVERFLOW, &overflow_key(Lsn(name.0), name.1 as u32)).expect("read");
        match said {
            '+' => assert_eq!(found, Some(text(*name)), "{name:?} is lost in round {round}"),
            '-' => assert_eq!(found, None, "{name:?} came back in round {round}"),
            _ => {}
        }
    }
}
