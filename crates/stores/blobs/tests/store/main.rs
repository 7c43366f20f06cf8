//! The blob store over an engine and chunk files in memory.

mod background;
mod containers;
mod content;
mod copies;
mod crashing;
mod feeds;
mod finds;
mod history;
mod lifecycle;
mod lists;
mod model;
mod properties;
mod world;
