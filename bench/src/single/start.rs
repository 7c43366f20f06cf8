//! From nothing to the first answer, and the memory a server has then.

use crate::Settings;
use crate::error::Error;
use crate::machine;
use crate::report::{Report, Target};
use crate::sample::median;
use crate::subjects::HttpLoad;
use orrery_testing_client::{Options, ServerProcess};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server is left alone before its memory is read.
const IDLE: Duration = Duration::from_secs(2);

pub fn measure(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let mut millis = Vec::new();
    let mut resident = Vec::new();
    for start in 0..settings.starts {
        let folder = TempDir::with_prefix_in("orrery-bench-", &settings.folder);
        let folder = folder.map_err(|e| Error::Io("no folder", e))?;
        let began = Instant::now();
        let server = ServerProcess::start(folder.path(), options)?;
        HttpLoad::new(server.cosmos())?.first_answer()?;
        millis.push(began.elapsed().as_secs_f64() * 1000.0);
        // Memory hardly varies, and the wait would.
        if start < 3 {
            std::thread::sleep(IDLE);
            resident.push(machine::resident_mb(server.process_id())?);
        }
        server.kill()?;
    }
    let (millis, resident) = (median(&millis), median(&resident));
    let starts = settings.starts;
    report.say(
        "start",
        &format!(
            "from starting the process on an empty folder to the answer of GET /, median of {starts}: {millis:.0} ms"
        ),
    );
    let idle = IDLE.as_secs();
    report.say("start", &format!("resident memory {idle} s after that, median of 3: {resident:.1} MB"));
    report.target(Target::at_most("start to first answer", 200.0, "ms").measured(Some(millis)));
    report.target(Target::at_most("idle memory", 60.0, "MB").measured(Some(resident)));
    Ok(())
}
