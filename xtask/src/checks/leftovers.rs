//! Nothing is left behind: no unfinished code, no path of somebody's machine.

use crate::code::Code;
use crate::finding::{Finding, line_at};
use crate::tree::Tree;

const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// Without their leading slash, so that this file does not find itself.
const MACHINE_PATHS: [&str; 3] = ["work/", "root/", "tmp/bash"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found: Vec<_> = tree.texts("rs").flat_map(|(path, text)| unfinished(path, text)).collect();
    let texts = tree.files().filter_map(|(path, file)| Some((path, file.text.as_deref()?)));
    found.extend(texts.flat_map(|(path, text)| machine_paths(path, text)));
    found
}

fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let code = Code::read(text);
    let tokens = code.tokens();
    let calls = tokens.windows(2).filter(|pair| pair[1].1 == "!" && UNFINISHED.contains(&pair[0].1));
    calls
        .map(|pair| Finding::new(path, line_at(text, pair[0].0), format!("`{}!` is left here", pair[0].1)))
        .collect()
}

fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(index, line)| Some((index, machine_path(line)?)));
    found
        .map(|(index, named)| {
            Finding::new(path, index + 1, format!("names `{named}`, a path of one machine"))
        })
        .collect()
}

fn machine_path(line: &str) -> Option<String> {
    let known = MACHINE_PATHS.iter().map(|tail| format!("/{tail}"));
    known
        .into_iter()
        .find(|wanted| line.match_indices(wanted.as_str()).any(|(at, _)| starts_a_path(line, at)))
}

/// `docs/<wanted>` is a path of ours, `file:///<wanted>` is not.
fn starts_a_path(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    !before.is_some_and(|c| c.is_alphanumeric() || "_-.})>".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_one(path: &str, text: &str, lines: &[usize]) {
        let found: Vec<_> =
            check(&Tree::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect();
        assert_eq!(found, lines, "{text}");
    }

    #[test]
    fn unfinished_code_is_found_with_its_line() {
        for word in UNFINISHED {
            check_one("a.rs", &format!("fn f() {{\n    {word}!()\n}}\n"), &[2]);
        }
    }

    #[test]
    fn words_about_unfinished_code_are_fine() {
        check_one("a.rs", "// todo!\nconst A: &str = \"dbg!(x)\";\nfn todo() { not_todo!() }\n", &[]);
        check_one("a.md", "we never write todo!()\n", &[]);
    }

    #[test]
    fn a_machine_path_is_found_in_any_text() {
        for tail in MACHINE_PATHS {
            check_one("a.md", &format!("ok\nsee `/{tail}x`\n"), &[2]);
            check_one("a.toml", &format!("x = \"file:///{tail}x\"\n"), &[1]);
            check_one("a.md", &format!("docs/{tail}x and https://example.com/{tail}\n"), &[]);
        }
    }
}
