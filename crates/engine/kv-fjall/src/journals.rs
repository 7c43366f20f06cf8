//! A check of fjall's journals before fjall opens them, because its recovery silently drops what
//! follows damage.
//!
//! ```text
//! batch   1 | items u32 | number u64        start; not covered by the batch's checksum
//!         2 | kind | compression | keyspace u64 | key u16 | value u32 | stored value u32 | key | value
//!         4 | keyspace u64                  a keyspace cleared
//!         3 | checksum u64 | magic          end                                       all little-endian
//! ```
//!
//! All journals but the newest were synced whole when the next one was begun, so each must be
//! readable to its last byte that is not zero (fjall preallocates 64 MiB). The newest may end in
//! half a batch; the acknowledgement note tells whether it ends too early. Batch numbers ascend
//! over all journals: a batch with a changed number would be taken for an older or newer one.
//! Nothing is written here, so a refused folder stays as it was.
//!
//! Left out: checksums, which fjall verifies itself.

use orrery_kv::Error;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: [u8; 4] = *b"FJL\x03";
/// Read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Refuses journals of which recovery would visibly lose something.
pub fn check(engine: &Path) -> Result<(), Error> {
    let unreadable = |error: io::Error| Error::Unavailable(format!("the journals cannot be read: {error}"));
    let journals = list(engine).map_err(unreadable)?;
    let mut newest = None;
    for (index, (id, path)) in journals.iter().enumerate() {
        let is_last = index + 1 == journals.len();
        let corrupt = |what: String| Err(Error::Corrupt(format!("the journal {id}.jnl {what}")));
        if !is_last && journals[index + 1].0 != id + 1 {
            return corrupt("is not followed by the next one, which is missing".to_owned());
        }
        let walked = Walk::open(path).and_then(|mut walk| walk.run(newest)).map_err(unreadable)?;
        match walked {
            Walked::OutOfOrder(at) => return corrupt(format!("has a batch out of order at byte {at}")),
            Walked::Broken(at) if !is_last => return corrupt(format!("is damaged at byte {at}")),
            Walked::Broken(_) => {}
            Walked::Whole(number) => newest = number,
        }
    }
    Ok(())
}

/// Replaces the newest journal with a synced copy. After a failed sync the system may show bytes
/// that are not on the disk and never write them; a copy is written in full.
pub fn rewrite_newest(engine: &Path) -> io::Result<()> {
    let Some((_, path)) = list(engine)?.pop() else { return Ok(()) };
    let name = path.with_extension("copy");
    let (mut source, mut copy) = (File::open(&path)?, File::create(&name)?);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match source.read(&mut buffer)? {
            0 => break,
            // Trailing zeros take no room on disk.
            read if buffer[..read].iter().all(|byte| *byte == 0) => {
                copy.seek_relative(read as i64)?;
            }
            read => copy.write_all(&buffer[..read])?,
        }
    }
    copy.set_len(source.metadata()?.len())?;
    copy.sync_all()?;
    fs::rename(name, path)?;
    File::open(engine)?.sync_all()
}

/// The journals in order of their numbers. Other files are left to fjall.
fn list(engine: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(engine) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut journals = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jnl"));
        if let Some(id) = name.and_then(|name| name.parse().ok()) {
            journals.push((id, path));
        }
    }
    journals.sort_unstable();
    Ok(journals)
}

/// How a journal ends.
#[derive(Debug, PartialEq, Eq)]
enum Walked {
    /// With a whole batch and zeros; the number of the newest batch so far, if there is one.
    Whole(Option<u64>),
    /// With something else, from this byte on.
    Broken(u64),
    /// The batch that begins here has a number that is not above its predecessor's.
    OutOfOrder(u64),
}

struct Walk {
    reader: BufReader<File>,
    at: u64,
    length: u64,
}

impl Walk {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { reader: BufReader::with_capacity(BUFFER_BYTES, file), at: 0, length })
    }

    fn run(&mut self, mut newest: Option<u64>) -> io::Result<Walked> {
        loop {
            let begin = self.at;
            match self.batch() {
                Ok(Some(number)) if newest.is_some_and(|newest| number <= newest) => {
                    return Ok(Walked::OutOfOrder(begin));
                }
                Ok(Some(number)) => newest = Some(number),
                Ok(None) => {
                    let is_over = self.is_zero_from(begin)?;
                    return Ok(if is_over { Walked::Whole(newest) } else { Walked::Broken(begin) });
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let is_over = self.is_zero_from(begin)?;
                    return Ok(if is_over { Walked::Whole(newest) } else { Walked::Broken(begin) });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The number of the batch that begins here; `None` if there is none.
    fn batch(&mut self) -> io::Result<Option<u64>> {
        if self.byte()? != START {
            return Ok(None);
        }
        let items = u32::from_le_bytes(self.bytes()?);
        let number = u64::from_le_bytes(self.bytes()?);
        for _ in 0..items {
            match self.byte()? {
                ITEM => {
                    let _kinds: [u8; 10] = self.bytes()?;
                    let key = u64::from(u16::from_le_bytes(self.bytes()?));
                    let _value: [u8; 4] = self.bytes()?;
                    let stored = u64::from(u32::from_le_bytes(self.bytes()?));
                    self.skip(key + stored)?;
                }
                CLEAR => self.skip(8)?,
                _ => return Ok(None),
            }
        }
        if self.byte()? != END {
            return Ok(None);
        }
        self.skip(8)?;
        Ok((self.bytes()? == MAGIC).then_some(number))
    }

    fn byte(&mut self) -> io::Result<u8> {
        Ok(self.bytes::<1>()?[0])
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.at += bytes;
        if self.at > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.reader.seek_relative(i64::try_from(bytes).map_err(io::Error::other)?)
    }

    fn is_zero_from(&mut self, at: u64) -> io::Result<bool> {
        self.reader.seek(SeekFrom::Start(at))?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match self.reader.read(&mut buffer)? {
                0 => return Ok(true),
                read if buffer[..read].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::{Database, KeyspaceCreateOptions, PersistMode};
    use std::os::unix::fs::FileExt as _;
    use tempfile::TempDir;

    const BATCHES: u64 = 20;

    /// A journal that fjall wrote, with its batches.
    fn written_by_fjall(folder: &Path) {
        let database = Database::builder(folder).open().expect("opened");
        let keyspace = database.keyspace("k", KeyspaceCreateOptions::default).expect("made");
        let other = database.keyspace("other", KeyspaceCreateOptions::default).expect("made");
        for n in 0..BATCHES {
            let mut batch = database.batch().durability(Some(PersistMode::SyncData));
            batch.insert(&keyspace, n.to_be_bytes(), vec![7; 300]);
            batch.remove(&other, [1]);
            batch.commit().expect("committed");
            keyspace.insert([n as u8], "alone").expect("written");
        }
        other.clear().expect("cleared");
    }

    fn batch(number: u64) -> Vec<u8> {
        let item = [&[ITEM, 0, 0][..], &[1; 8], &[3, 0], &[40, 0, 0, 0], &[40, 0, 0, 0], &[5; 43]].concat();
        let start = [&[START, 2, 0, 0, 0][..], &number.to_le_bytes()].concat();
        [start, item.clone(), item, [&[END][..], &[9; 8], &MAGIC].concat()].concat()
    }

    /// Journals 4 and 5 with batches each, and zeros behind them.
    fn two_journals() -> TempDir {
        let folder = TempDir::new().expect("a folder");
        for journal in [4, 5] {
            let batches = (0..BATCHES).flat_map(|n| batch(journal * 1000 + n));
            let bytes: Vec<u8> = batches.chain([0; 5000]).collect();
            fs::write(folder.path().join(format!("{journal}.jnl")), bytes).expect("written");
        }
        folder
    }

    fn journal(folder: &TempDir, id: u64) -> File {
        File::options().write(true).open(folder.path().join(format!("{id}.jnl"))).expect("the journal")
    }

    /// Where the batch with this index begins.
    fn begin(index: u64) -> u64 {
        batch(0).len() as u64 * index
    }

    fn found(folder: &Path) -> Option<String> {
        check(folder).err().map(|error| error.to_string())
    }

    #[test]
    fn what_fjall_wrote_is_understood_to_its_end() {
        let folder = TempDir::new().expect("a folder");
        written_by_fjall(folder.path());
        let (_, path) = list(folder.path()).expect("listed").pop().expect("a journal");
        let mut walk = Walk::open(&path).expect("opened");
        let walked = walk.run(None).expect("read");
        assert!(matches!(walked, Walked::Whole(Some(number)) if number >= 2 * BATCHES), "{walked:?}");
    }

    #[test]
    fn half_a_batch_at_the_end_of_the_newest_is_no_damage() {
        let folder = two_journals();
        assert_eq!(found(folder.path()), None);
        journal(&folder, 5).set_len(begin(19) + 40).expect("cut");
        assert_eq!(found(folder.path()), None);
    }

    #[test]
    fn an_older_journal_that_is_cut_or_changed_is_found() {
        let damages: [fn(&File); 3] = [
            |file| file.set_len(begin(10) + 40).expect("cut"),
            |file| file.write_all_at(&[9], begin(10)).expect("written"),
            |file| file.write_all_at(&[0; 4000], begin(10) + 40).expect("written"),
        ];
        for damage in damages {
            let folder = two_journals();
            damage(&journal(&folder, 4));
            let error = found(folder.path()).expect("found");
            assert!(error.contains(&format!("4.jnl is damaged at byte {}", begin(10))), "{error}");
        }
    }

    #[test]
    fn a_batch_with_a_changed_number_is_found() {
        for (id, number) in [(4, 3u64), (4, 1 << 40), (5, 3), (5, 1 << 40), (5, 4019)] {
            let folder = two_journals();
            journal(&folder, id).write_all_at(&number.to_le_bytes(), begin(7) + 5).expect("written");
            let error = found(folder.path()).expect("found");
            assert!(error.contains("out of order"), "{error}");
        }
    }

    #[test]
    fn a_journal_that_is_missing_between_two_is_found() {
        let folder = two_journals();
        fs::rename(folder.path().join("5.jnl"), folder.path().join("6.jnl")).expect("renamed");
        assert!(found(folder.path()).expect("found").contains("missing"));
    }

    #[test]
    fn a_copy_of_the_newest_takes_its_place() {
        let folder = two_journals();
        let before = fs::read(folder.path().join("5.jnl")).expect("read");
        rewrite_newest(folder.path()).expect("written");
        let after = fs::read(folder.path().join("5.jnl")).expect("read");
        assert!(before == after, "the copy has the same bytes");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2, "nothing else is left");
    }
}
