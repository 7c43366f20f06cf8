//! Paths inside the repository: `/`-separated text relative to its root, never with `.` or `..` in it.

/// The folder of a path; empty for what lies at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// `relative` as seen from `folder`, or `None` when it leads out of the repository.
pub fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// What is left of `path` inside `folder`; the root (`""`) holds everything.
pub fn inside<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_resolves_dots_and_stops_at_the_root() {
        assert_eq!(join("a/b", "../c/./d.md").as_deref(), Some("a/c/d.md"));
        assert_eq!(join("", "x").as_deref(), Some("x"));
        assert_eq!(join("a", "../.."), None);
    }

    #[test]
    fn a_folder_does_not_hold_its_namesake_with_a_longer_name() {
        assert_eq!(inside("a/bc/x", "a/b"), None);
        assert_eq!(inside("a/b/x", "a/b"), Some("x"));
        assert_eq!(inside("x", ""), Some("x"));
    }

    #[test]
    fn folder_and_name_take_a_path_apart() {
        assert_eq!((folder("a/b.rs"), name("a/b.rs")), ("a", "b.rs"));
        assert_eq!((folder("b.rs"), name("b.rs")), ("", "b.rs"));
    }
}
