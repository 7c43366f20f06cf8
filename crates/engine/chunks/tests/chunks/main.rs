//! Chunks over a disk that forgets and fails, beside a memory engine.

mod check;
mod folder;
mod format;
mod history;
mod reclaim;
mod sharing;
mod upload;
mod world;
