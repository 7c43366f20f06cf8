//! The provider: the stand-in of `orrery notify fake-push`, on a thread of this process, so that what it received is
//! known without asking anybody.

use crate::drive::runtime;
use crate::error::Error;
use orrery_api_common::Stop;
use orrery_api_push::{Options, StandIns, State};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

pub struct Provider {
    state: State,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    /// For `--push-config`.
    pub config: PathBuf,
}

impl Provider {
    /// Serves until it is dropped; what the server needs is in the folder.
    pub fn start(folder: &Path) -> Result<Self, Error> {
        let (stop, (told, hears)) = (Stop::new(), mpsc::channel());
        let (thread_stop, thread_folder) = (stop.clone(), folder.to_owned());
        let thread = std::thread::spawn(move || serve(&thread_folder, thread_stop, &told));
        let state =
            hears.recv().unwrap_or_else(|_| Err(Error::Unexpected("the provider ended".to_owned())))?;
        Ok(Self { state, stop, thread: Some(thread), config: folder.join("providers.json") })
    }

    /// Pushes that it took since the start.
    pub fn delivered(&self) -> u64 {
        self.state.counters().delivered
    }

    /// Pushes that it did not take.
    pub fn refused(&self) -> u64 {
        self.state.counters().refused
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(folder: &Path, stop: Stop, told: &mpsc::Sender<Result<State, Error>>) {
    let served = runtime().and_then(|runtime| {
        let stand_ins = runtime.block_on(async { bind(folder) })?;
        let _ = told.send(Ok(stand_ins.state()));
        runtime.block_on(stand_ins.run(stop));
        Ok(())
    });
    if let Err(error) = served {
        let _ = told.send(Err(error));
    }
}

fn bind(folder: &Path) -> Result<StandIns, Error> {
    let certificate_folder = folder.join("tls");
    fs::create_dir_all(&certificate_folder).map_err(|error| Error::Io("no folder", error))?;
    let options = Options {
        fcm_port: 0,
        apns_port: 0,
        control_port: 0,
        certificate_folder,
        apns_key: None,
        // The server's clock is moved by hand.
        clock: None,
    };
    let stand_ins = StandIns::bind(options).map_err(Error::Unexpected)?;
    for file in stand_ins.files() {
        fs::write(folder.join(file.name), file.text)
            .map_err(|error| Error::Io("no file of the provider", error))?;
    }
    Ok(stand_ins)
}
