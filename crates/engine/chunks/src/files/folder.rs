//! Chunk files in a folder, which is made with the first of them.

use super::{ChunkFile, Files};
use crate::FileId;
use rustix::buffer::spare_capacity;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const EXTENSION: &str = "chunks";
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The folder `chunks` of a data folder.
#[derive(Debug)]
pub struct FolderFiles {
    data: PathBuf,
    path: PathBuf,
    /// Whether the folder is there, also after a crash.
    is_made: Mutex<bool>,
}

impl FolderFiles {
    /// In the data folder `data`.
    pub fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), path: data.join("chunks"), is_made: Mutex::default() }
    }

    fn file(&self, id: FileId) -> PathBuf {
        self.path.join(format!("{id}.{EXTENSION}"))
    }

    fn make_folder(&self) -> io::Result<()> {
        let mut is_made = self.is_made.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_made {
            return Ok(());
        }
        match DirBuilder::new().mode(FOLDER_MODE).create(&self.path) {
            // By an earlier process, which may have ended before it synced that.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => File::open(&self.data)?.sync_all()?,
        }
        *is_made = true;
        Ok(())
    }
}

fn read_name(name: &str) -> Option<FileId> {
    let digits = name.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    let id = FileId(u64::from_str_radix(digits, 16).ok()?);
    // As we write it, and no other way.
    (id.to_string() == digits).then_some(id)
}

impl Files for FolderFiles {
    fn list(&self) -> io::Result<Vec<(FileId, u64)>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if let Some(id) = entry.file_name().to_str().and_then(read_name) {
                files.push((id, entry.metadata()?.len()));
            }
        }
        Ok(files)
    }

    fn create(&self, id: FileId) -> io::Result<Arc<dyn ChunkFile>> {
        self.make_folder()?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(FILE_MODE);
        Ok(Arc::new(options.open(self.file(id))?))
    }

    fn open(&self, id: FileId) -> io::Result<Arc<dyn ChunkFile>> {
        Ok(Arc::new(File::open(self.file(id))?))
    }

    fn remove(&self, id: FileId) -> io::Result<()> {
        fs::remove_file(self.file(id))
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(&self.data)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

impl ChunkFile for File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn read_at(&self, buffer: &mut Vec<u8>, length: usize, offset: u64) -> io::Result<()> {
        let end = buffer.len() + length;
        buffer.reserve_exact(length);
        while buffer.len() < end {
            let (left, at) = (end - buffer.len(), offset + (length - (end - buffer.len())) as u64);
            let before = buffer.len();
            match read_some(self, buffer, left, at) {
                Ok(()) if buffer.len() == before => break,
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Reads into spare capacity, which is not cleared before.
fn read_some(file: &File, buffer: &mut Vec<u8>, length: usize, offset: u64) -> io::Result<()> {
    if buffer.capacity() - buffer.len() == length {
        rustix::io::pread(file, spare_capacity(buffer), offset)?;
        return Ok(());
    }
    // The allocator gave more than was asked for.
    let start = buffer.len();
    buffer.resize(start + length, 0);
    let read = FileExt::read_at(file, &mut buffer[start..], offset);
    buffer.truncate(start + *read.as_ref().unwrap_or(&0));
    read.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_by_the_names_they_were_made_with() {
        let data = tempfile::tempdir().expect("a folder");
        let files = FolderFiles::new(data.path());
        assert_eq!(files.list().expect("none"), []);
        let file = files.create(FileId(0x1f)).expect("made");
        file.write_all_at(b"hello", 3).expect("written");
        file.sync().expect("synced");
        files.sync().expect("synced");
        for foreign in ["1f.chunks", "000000001F.chunks", "000000002f.chunks.new", "notes"] {
            fs::write(data.path().join("chunks").join(foreign), "").expect("written");
        }
        assert_eq!(files.list().expect("listed"), [(FileId(0x1f), 8)]);
        assert!(data.path().join("chunks/000000001f.chunks").is_file());
        assert!(files.create(FileId(0x1f)).is_err(), "a file is made once");
        files.remove(FileId(0x1f)).expect("removed");
        let mut read = Vec::new();
        file.read_at(&mut read, 5, 3).expect("whoever has it open reads on");
        assert_eq!(read, b"hello");
        assert!(files.open(FileId(0x1f)).is_err());
        assert!(files.free_bytes().expect("known") > 0);
    }

    #[test]
    fn a_read_appends_and_stops_at_the_end_of_the_file() {
        let data = tempfile::tempdir().expect("a folder");
        let file = FolderFiles::new(data.path()).create(FileId(1)).expect("made");
        let content: Vec<u8> = (0..100_000u32).map(|at| at as u8).collect();
        file.write_all_at(&content, 0).expect("written");
        for capacity in [0, 10, 100_000, 300_000] {
            let mut read = Vec::with_capacity(capacity);
            file.read_at(&mut read, 10, 5).expect("read");
            file.read_at(&mut read, 70_000, 50_000).expect("read");
            assert!(read[..10] == content[5..15] && read[10..] == content[50_000..], "{capacity}");
        }
    }
}
