//! Opening a large folder after `kill -9`. What the operating system has cached stays cached, as it would.

use crate::Settings;
use crate::cell::Size;
use crate::error::Error;
use crate::machine;
use crate::report::{Report, Target};
use crate::subjects::HttpLoad;
use orrery_testing_client::{Options, ServerProcess};
use std::time::Instant;
use tempfile::TempDir;

/// Half of the bytes are in large items, half in small ones.
fn counts(bytes: u64) -> [(Size, u64); 2] {
    Size::ALL.map(|size| (size, bytes / 2 / size.bytes() as u64))
}

pub fn measure(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let folder = TempDir::with_prefix_in("orrery-bench-", &settings.folder);
    let folder = folder.map_err(|e| Error::Io("no folder", e))?;
    let server = ServerProcess::start(folder.path(), options)?;
    let load = HttpLoad::new(server.cosmos())?;
    load.create_containers()?;
    let counts = counts(settings.reopen_bytes);
    let filling = Instant::now();
    for (size, count) in counts {
        load.fill(size, count)?;
    }
    let filled = filling.elapsed().as_secs_f64();
    server.kill()?;

    let began = Instant::now();
    let server = ServerProcess::start(folder.path(), options)?;
    let load = HttpLoad::new(server.cosmos())?;
    let (last_size, last_count) = counts[1];
    load.read_one(last_size, last_count - 1)?;
    let seconds = began.elapsed().as_secs_f64();

    let megabytes = settings.reopen_bytes >> 20;
    let on_disk = machine::folder_bytes(folder.path()) >> 20;
    report.say(
        "reopen",
        &format!(
            "{megabytes} MB of items ({} of 1 KB, {} of 50 KB; {on_disk} MB on disk; written in {filled:.0} s), \
             kill -9, start to the answered read of the last item: {seconds:.2} s",
            counts[0].1, counts[1].1
        ),
    );
    let whole = settings.reopen_bytes >= 1 << 30;
    report.target(Target::at_most("reopen 1 GB after kill -9", 3.0, "s").measured(whole.then_some(seconds)));
    server.kill()?;
    Ok(())
}
