//! What tests of several crates share: files of cases, and noise from a seed.

mod cases;
mod noise;

pub use cases::{Line, case_files, lines};
pub use noise::Noise;
