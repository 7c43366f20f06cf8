//! Links from one document to a file of the repository lead somewhere.
//!
//! Read are inline links and images, `[text](target)`, and definitions, `[text]: target`. Code, fenced or
//! inline, has no links; web addresses and places in the same document are not followed.

use crate::finding::Finding;
use crate::paths;
use crate::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts("md").flat_map(|(path, text)| check_document(tree, path, text)).collect()
}

fn check_document(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let broken = links(text).into_iter().filter(|(_, target)| !resolves(tree, path, target));
    broken
        .map(|(line, target)| Finding::new(path, line, format!("the link to `{target}` leads nowhere")))
        .collect()
}

fn resolves(tree: &Tree, document: &str, target: &str) -> bool {
    let stays_here = target.is_empty() || target.starts_with(['#', '?']) || has_scheme(target);
    stays_here || path(document, target).is_some_and(|path| tree.has(&path))
}

/// The file or folder of the repository that a link in `document` leads to, if it leads to one.
pub fn path(document: &str, target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() || has_scheme(target) {
        return None;
    }
    let from = if path.starts_with('/') { "" } else { paths::folder(document) };
    paths::join(from, &path.replace("%20", " "))
}

/// `https://…`, `mailto:…` and their like.
fn has_scheme(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    target.starts_with("//")
        || scheme
            .is_some_and(|s| s.len() > 1 && s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)))
}

/// Every link's line and target.
fn links(text: &str) -> Vec<(usize, String)> {
    let text = without_fences(text);
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(index, line)| links_in(line).into_iter().map(move |target| (index + 1, target)))
        .collect()
}

/// The text with the lines of fenced code left empty, so that the others keep their numbers.
pub fn without_fences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (Some(_), _) => {}
            (None, None) => kept.push_str(line),
        }
        kept.push('\n');
    }
    kept
}

fn links_in(line: &str) -> Vec<String> {
    let line = without_inline_code(line);
    let inline = line.match_indices("](").filter_map(|(at, _)| inline_target(&line[at + 2..]));
    inline.chain(definition(&line)).filter_map(|target| bare(&target)).collect()
}

/// Up to the parenthesis that closes the link; a target may have pairs of its own.
fn inline_target(rest: &str) -> Option<String> {
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(rest[..at].to_owned()),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn definition(line: &str) -> Option<String> {
    let (label, target) = line.strip_prefix('[')?.split_once("]:")?;
    (!label.contains(']') && !label.starts_with('^')).then(|| target.to_owned())
}

/// The target without a title or the brackets around it.
fn bare(target: &str) -> Option<String> {
    let target = target.trim();
    match target.strip_prefix('<') {
        Some(bracketed) => bracketed.split('>').next().map(str::to_owned),
        None => target.split_whitespace().next().map(str::to_owned),
    }
}

fn without_inline_code(line: &str) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    let closed = if pieces.len() % 2 == 1 { pieces.len() } else { pieces.len() - 1 };
    let kept = pieces.iter().enumerate().filter(|(index, _)| index % 2 == 0 || *index >= closed);
    kept.map(|(_, piece)| *piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(line: &str) -> Vec<String> {
        let tree =
            Tree::of(&[("docs/a.md", line), ("docs/b (1).md", ""), ("README.md", ""), ("crates/x/y.rs", "")]);
        check(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    fn fine(line: &str) {
        assert_eq!(broken(line), [""; 0], "{line}");
    }

    fn wrong(line: &str, target: &str) {
        assert_eq!(broken(line), [format!("docs/a.md:1: the link to `{target}` leads nowhere")], "{line}");
    }

    #[test]
    fn links_are_relative_to_their_document() {
        fine(
            "[a](../README.md) and [b](../crates/x) and [c](/crates/x/y.rs) and [d](<b (1).md>) [e](b%20(1).md)",
        );
        wrong("[a](README.md)", "README.md");
        wrong("text [a](../README.md) then ![b](no.png)", "no.png");
        wrong("[a](../../outside.md)", "../../outside.md");
    }

    #[test]
    fn places_titles_and_definitions_are_understood() {
        fine("[a](#here) [b](../README.md#there) [c](../README.md \"Title\")");
        wrong("[a](gone.md#there)", "gone.md#there");
        wrong("[label]: gone.md", "gone.md");
        fine("[label]: ../README.md");
    }

    #[test]
    fn the_web_is_not_followed() {
        fine("[a](https://example.com/x) [b](mailto:a@b.c) [c](//example.com)");
    }

    #[test]
    fn code_has_no_links() {
        fine("`[a](gone.md)`");
        fine("```\n[a](gone.md)\n```");
        fine("~~~\n```\n[a](gone.md)\n~~~");
        wrong("`code` [a](gone.md) `more`", "gone.md");
        assert_eq!(broken("```\nx\n```\n[a](gone.md)").len(), 1);
    }
}
