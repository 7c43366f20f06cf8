//! A thread that does what it is told, and ends with the one who tells it.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

pub struct Helper<T> {
    /// Nobody listens after the end.
    orders: Option<Sender<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Helper<T> {
    pub fn new(name: &str, work: impl FnOnce(&Receiver<T>) + Send + 'static) -> io::Result<Self> {
        let (orders, told) = channel();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || work(&told))?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    pub fn tell(&self, order: T) {
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

impl<T> Drop for Helper<T> {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Looks when it is told to; one look is enough for all that was told meanwhile.
pub fn look_when_told(told: &Receiver<()>, mut look: impl FnMut()) {
    while told.recv().is_ok() {
        told.try_iter().for_each(drop);
        look();
    }
}
