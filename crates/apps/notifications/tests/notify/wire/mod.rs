//! Faults of a store over the wire: busy, lost responses, silence, kill and restart.

mod killed;
mod overtaken;
mod proxy;
mod troubled;
