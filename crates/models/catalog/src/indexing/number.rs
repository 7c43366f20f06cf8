//! The numbers that represent paths and composite indexes in index terms.
//!
//! A path's number is the hash of its last step, seeded with the number of the path before it, so a walk down
//! an item derives each number from the one above. For a member the name is hashed. For anything else the
//! hashed bytes begin with a byte that no name contains, because it is not UTF-8:
//!
//! ```text
//! FF                                                     every element of an array
//! FE, for each part its number and 00 up or 01 down      a composite index
//! FD                                                     the shapes at a path
//! ```
//!
//! The numbers are stored: another hash is another format. Two of a thousand paths have the same number once
//! in 2^45 containers, so collisions are ignored.

use orrery_query::access::{Path, Step};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The item itself.
pub const ROOT: u64 = 0;

const EACH: u8 = 0xff;
const COMPOSITE: u8 = 0xfe;
const SHAPES: u8 = 0xfd;

pub fn path_number(path: &[Step]) -> u64 {
    path.iter().fold(ROOT, |number, step| match step {
        Step::Member(name) => member(number, name),
        Step::Each => each(number),
    })
}

/// The number of a composite index: its parts' paths, and whether each descends.
pub fn composite_number(parts: &[(Path, bool)]) -> u64 {
    let mut form = vec![COMPOSITE];
    for (path, descends) in parts {
        form.extend_from_slice(&path_number(path).to_be_bytes());
        form.push(u8::from(*descends));
    }
    xxh3_64(&form)
}

/// The number of the spatial cells at a path.
pub fn spatial_number(path: &[Step]) -> u64 {
    shapes(path_number(path))
}

pub fn member(parent: u64, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), parent)
}

pub fn each(parent: u64) -> u64 {
    xxh3_64_with_seed(&[EACH], parent)
}

pub fn shapes(path: u64) -> u64 {
    xxh3_64_with_seed(&[SHAPES], path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn path(names: &[&str]) -> Path {
        names
            .iter()
            .map(|name| if *name == "[]" { Step::Each } else { Step::Member((*name).into()) })
            .collect()
    }

    #[test]
    fn the_stored_numbers_are_these() {
        let numbers = [
            path_number(&path(&["id"])),
            path_number(&path(&["tags", "[]"])),
            path_number(&path(&["address", "größe"])),
            composite_number(&[(path(&["a"]), false), (path(&["b"]), true)]),
            spatial_number(&path(&["loc"])),
        ];
        let expected: [u64; 5] = [
            0xd2a4_4dfe_8653_ba83,
            0x3fad_cc44_1700_af11,
            0x1ae6_87a8_2e43_428a,
            0xac13_f1ae_0d6b_8ba7,
            0xf60c_fada_c3d4_0f19,
        ];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn different_paths_have_different_numbers() {
        let paths: Vec<Path> = vec![
            path(&["a"]),
            path(&["a", "b"]),
            path(&["b", "a"]),
            path(&["ab"]),
            path(&["a", "[]"]),
            path(&["a", "[]", "[]"]),
            path(&["[]", "a"]),
            path(&["a", "[]", "b"]),
            path(&["a", ""]),
            path(&["\u{ff}"]),
            path(&["a/b"]),
        ];
        let mut numbers: Vec<u64> = paths.iter().map(|path| path_number(path)).collect();
        numbers.extend(paths.iter().map(|path| spatial_number(path)));
        let part = |name: &str, descends| (path(&[name]), descends);
        numbers.extend([
            composite_number(&[part("a", false), part("b", false)]),
            composite_number(&[part("b", false), part("a", false)]),
            composite_number(&[part("a", false), part("b", true)]),
            composite_number(&[part("a", false), part("b", false), part("c", false)]),
            composite_number(&[(path(&["a", "b"]), false)]),
        ]);
        let different: HashSet<u64> = numbers.iter().copied().collect();
        assert_eq!(different.len(), numbers.len());
    }
}
