//! A thread that handles messages and ends with its owner.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

pub struct Worker<T> {
    /// `None` once the owner is dropped, which ends the thread.
    sender: Option<Sender<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Worker<T> {
    pub fn new(name: &str, work: impl FnOnce(&Receiver<T>) + Send + 'static) -> io::Result<Self> {
        let (sender, signals) = channel();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || work(&signals))?;
        Ok(Self { sender: Some(sender), thread: Some(thread) })
    }

    pub fn send(&self, message: T) {
        let _ = self.sender.as_ref().map(|sender| sender.send(message));
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.sender = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Runs `look` on a signal; one run is enough for all signals that arrived meanwhile.
pub fn run_on_signal(signals: &Receiver<()>, mut look: impl FnMut()) {
    while signals.recv().is_ok() {
        signals.try_iter().for_each(drop);
        look();
    }
}
