//! How many files and sockets the process may have open. Connections share them with the engine, and must not take them all:
//! an engine that cannot open a file cannot write.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Of the files that may be open, the connections of one port take one in so many.
const SHARE: u64 = 4;

/// Raises the limit to what the system allows this user, as the default is that of a shell; `None` if there is none then.
pub fn raise() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

/// The connections that each port takes, of those that are wanted.
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
