//! The limit of open files and sockets. Connections share it with the engine, and must not exhaust it: an engine that
//! cannot open a file cannot write.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The share of the limit for the connections of one port: one in this many.
const SHARE: u64 = 4;

/// Raises the limit to the system's maximum for this user, since the default is meant for shells; `None` if there is no
/// limit then.
pub fn raise() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

/// The connections of each port, at most the configured number.
pub fn connections_max(wanted: u32, files_max: Option<u64>) -> u32 {
    let share = files_max.map_or(u32::MAX, |files| u32::try_from(files / SHARE).unwrap_or(u32::MAX));
    wanted.min(share.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_engine() {
        assert_eq!(connections_max(8192, None), 8192);
        assert_eq!(connections_max(8192, Some(1_048_576)), 8192);
        assert_eq!(connections_max(8192, Some(1024)), 256);
        assert_eq!(connections_max(8192, Some(2)), 1);
    }
}
