//! Verifying every table file against its checksum.
//!
//! fjall verifies a block when it reads it. This reads all of them, filters and block indexes
//! included, whether or not anyone asks for their rows.

use crate::keyspaces::Keyspaces;
use fjall::AbstractTree as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3Default;

/// Read at once.
const BUFFER_BYTES: usize = 1024 * 1024;

/// The number of files, and a sentence for each one that is damaged.
#[derive(Debug, Default)]
pub struct Verified {
    pub files: u64,
    pub faults: Vec<String>,
}

pub fn verify(keyspaces: &Keyspaces) -> Verified {
    let mut verified = Verified::default();
    for (_, keyspace) in keyspaces.all() {
        let (name, version) = (keyspace.name(), keyspace.tree.current_version());
        for table in version.iter_tables() {
            verified.files += 1;
            let path = table.path.display();
            match checksum(&table.path) {
                Ok(found) if found == table.checksum().into_u128() => {}
                Ok(_) => verified.faults.push(format!("the file {path} of {name} is damaged")),
                Err(error) => {
                    verified.faults.push(format!("the file {path} of {name} cannot be read: {error}"))
                }
            }
        }
    }
    verified
}

fn checksum(path: &Path) -> io::Result<u128> {
    let (mut file, mut hasher) = (File::open(path)?, Xxh3Default::new());
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.digest128()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::Database;
    use orrery_kv::contract::{DOCUMENTS, LOG, SPACES};
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn one_changed_bit_of_a_table_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = Database::builder(folder.path()).open().expect("opened");
        let keyspaces = Keyspaces::open(&database, &SPACES).expect("opened");
        let keyspace =
            |space| keyspaces.open_or_create(&database, keyspaces.locate(space, b"key")).expect("made");
        for keyspace in [DOCUMENTS, LOG].map(keyspace) {
            keyspace.insert(b"key", vec![7; 10_000]).expect("written");
            keyspace.rotate_memtable_and_wait().expect("written");
        }
        let whole = verify(&keyspaces);
        assert_eq!((whole.files, whole.faults.len()), (2, 0), "{whole:?}");
        let log = keyspace(LOG);
        let version = log.tree.current_version();
        let path = version.iter_tables().next().expect("a table").path.clone();
        let file = File::options().read(true).write(true).open(&*path).expect("opened");
        let mut byte = [0];
        let at = file.metadata().expect("read").len() / 2;
        file.read_exact_at(&mut byte, at).expect("read");
        file.write_all_at(&[byte[0] ^ 4], at).expect("written");
        let damaged = verify(&keyspaces);
        assert!(damaged.faults.len() == 1 && damaged.faults[0].contains("of log0 is damaged"), "{damaged:?}");
    }
}
