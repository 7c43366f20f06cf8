//! What ARCHITECTURE.md and the tours call by name in a linked source file is declared in that file.
//!
//! A name belongs to a link when it is the link's text, ``[`Listener::serve`](listener.rs)``, or stands right before it,
//! `` `create` and `read` in [items.rs](items.rs) ``. A link to a folder means any source file in it. In a tour, a name of
//! several words (`find_container`, `Store::write`) without a link must be declared in one of the files the tour links.

use std::collections::BTreeSet;

use crate::checks::links;
use crate::code::Code;
use crate::finding::{Finding, line_at};
use crate::paths;
use crate::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const TOURS: &str = "docs/tour";
/// The longest text between a name and the link it belongs to: `` `a` and its neighbours in [x](x.rs) ``.
const BETWEEN_CHARS_MAX: usize = 24;
/// The words after which Rust declares a name.
const DECLARING: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.texts("md").filter(|(path, _)| *path == ARCHITECTURE || is_tour(path));
    pages.flat_map(|(path, text)| check_page(tree, path, text)).collect()
}

fn is_tour(path: &str) -> bool {
    paths::inside(path, TOURS).is_some()
}

fn check_page(tree: &Tree, page: &str, text: &str) -> Vec<Finding> {
    let text = links::without_fences(text);
    let spans = spans(&text);
    let mut found = Vec::new();
    let mut claimed = BTreeSet::new();
    let mut linked = Vec::new();
    for link in links(&text) {
        let Some(target) = links::path(page, link.target) else { continue };
        let Some(file) = Declared::read(tree, &target) else { continue };
        for span in named_by(&text, &spans, &link) {
            claimed.insert(span.start);
            if !file.has(span.name) {
                let sentence = format!("`{}` is not in {target}", span.name);
                found.push(Finding::new(page, line_at(&text, span.start), sentence));
            }
        }
        linked.push(file);
    }
    let loose = spans.iter().filter(|span| is_tour(page) && !claimed.contains(&span.start));
    let lost =
        loose.filter(|span| has_several_words(span.name) && !linked.iter().any(|it| it.has(span.name)));
    found.extend(lost.map(|span| {
        let sentence = format!("`{}` is in no file that this page links", span.name);
        Finding::new(page, line_at(&text, span.start), sentence)
    }));
    found
}

/// A name in code marks; offsets include the marks.
struct Span<'a> {
    start: usize,
    end: usize,
    name: &'a str,
}

/// Every piece of inline code that is a name or a path of names, `()` left off.
fn spans(text: &str) -> Vec<Span<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    for (index, piece) in text.split('`').enumerate() {
        let name = piece.strip_suffix("()").unwrap_or(piece);
        if index % 2 == 1 && is_path(name) {
            found.push(Span { start: at - 1, end: at + piece.len() + 1, name });
        }
        at += piece.len() + 1;
    }
    found
}

fn is_path(name: &str) -> bool {
    name.split("::").all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Whether this can hardly be anything but a name of our code. `_rid` and `id` are also members of items, and words in
/// capitals are constants of protocols.
fn has_several_words(name: &str) -> bool {
    let snake = name.contains('_') && !name.starts_with('_') && name.chars().any(|c| c.is_ascii_lowercase());
    name.contains("::") || snake
}

struct Link<'a> {
    /// Of the opening bracket.
    start: usize,
    /// Between the brackets.
    label: (usize, usize),
    target: &'a str,
}

fn links(text: &str) -> Vec<Link<'_>> {
    let found = text.match_indices("](").filter_map(|(close, _)| {
        let start = text[..close].rfind('[')?;
        let target = text[close + 2..].split(')').next()?;
        Some(Link { start, label: (start + 1, close), target })
    });
    found.collect()
}

/// The names in the link's text, and the chain of names that ends in ` in [`.
fn named_by<'t>(text: &str, spans: &'t [Span<'t>], link: &Link<'_>) -> Vec<&'t Span<'t>> {
    let mut named: Vec<&Span<'_>> =
        spans.iter().filter(|span| span.start >= link.label.0 && span.end <= link.label.1).collect();
    let mut until = link.start;
    for span in spans.iter().rev().filter(|span| span.end <= link.start) {
        let words: Vec<&str> = text[span.end..until].split_whitespace().collect();
        let between = words.join(" ");
        let chained = between.len() <= BETWEEN_CHARS_MAX
            && between.chars().all(|c| c.is_alphanumeric() || " ,".contains(c))
            && (until != link.start || words.last() == Some(&"in"));
        if !chained {
            break;
        }
        named.push(span);
        until = span.start;
    }
    named
}

/// The words of a source file, or of all those in a folder, and the names they declare.
struct Declared {
    names: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Declared {
    /// `None` for what is no source.
    fn read(tree: &Tree, target: &str) -> Option<Self> {
        let within = format!("{target}/");
        let mut sources =
            tree.texts("rs").filter(|(path, _)| *path == target || path.starts_with(&within)).peekable();
        sources.peek()?;
        let mut declared = Self { names: BTreeSet::new(), words: BTreeSet::new() };
        sources.for_each(|(_, text)| declared.take(text));
        Some(declared)
    }

    fn take(&mut self, text: &str) {
        let code = Code::read(text);
        let tokens = code.tokens();
        for pair in tokens.windows(2) {
            if DECLARING.contains(&pair[0].1) {
                self.names.insert(pair[1].1.to_owned());
            }
        }
        for triple in tokens.windows(3) {
            if (triple[0].1, triple[1].1) == ("macro_rules", "!") {
                self.names.insert(triple[2].1.to_owned());
            }
        }
        self.words.extend(tokens.into_iter().map(|(_, word)| word.to_owned()));
    }

    /// The last part is declared here (a variant after its enum's name need only stand here), and the types before it
    /// are mentioned. Modules before it are not looked for: the file itself is one.
    fn has(&self, name: &str) -> bool {
        let (owner, last) = name.rsplit_once("::").map_or((None, name), |(owner, last)| (Some(owner), last));
        let is_variant = owner.is_some() && is_type(last) && self.words.contains(last);
        let mut types = owner.into_iter().flat_map(|owner| owner.split("::")).filter(|part| is_type(part));
        (self.names.contains(last) || is_variant) && types.all(|part| self.words.contains(part))
    }
}

fn is_type(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "pub struct Store;\nimpl Store {\n    pub async fn write(&self) {}\n}\n\
                          enum Route { Items }\n// fn gone() {}\nfn attempt() { later() }\n";

    fn sentences(page: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(page, text), ("crates/a/src/store.rs", SOURCE), ("docs/x.md", "")]);
        check(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    fn fine(text: &str) {
        assert_eq!(sentences(ARCHITECTURE, text), [""; 0], "{text}");
    }

    fn missing(text: &str, name: &str) {
        let expected = format!("ARCHITECTURE.md:1: `{name}` is not in crates/a/src/store.rs");
        assert_eq!(sentences(ARCHITECTURE, text), [expected], "{text}");
    }

    #[test]
    fn the_text_of_a_link_is_declared_in_its_file() {
        fine(
            "[`Store::write`](crates/a/src/store.rs) [`attempt()`](crates/a/src/store.rs) [`Route::Items`](crates/a/src/store.rs)",
        );
        fine("[`store::attempt`](crates/a/src/store.rs) [store.rs](crates/a/src/store.rs)");
        missing("[`Db::write`](crates/a/src/store.rs)", "Db::write");
        missing("[`gone`](crates/a/src/store.rs)", "gone");
        missing("[`later`](crates/a/src/store.rs)", "later");
    }

    #[test]
    fn a_link_to_a_folder_means_any_file_in_it() {
        fine("[`attempt`](crates/a/src)");
        assert_eq!(
            sentences(ARCHITECTURE, "[`gone`](crates/a)"),
            ["ARCHITECTURE.md:1: `gone` is not in crates/a"]
        );
    }

    #[test]
    fn names_right_before_a_link_belong_to_it() {
        fine("`write` and `attempt` in [x](crates/a/src/store.rs)");
        missing("`gone` in [x](crates/a/src/store.rs)", "gone");
        missing("`gone`, `write` and `attempt` in [x](crates/a/src/store.rs)", "gone");
        missing("`gone` and its neighbours in [x](crates/a/src/store.rs)", "gone");
    }

    #[test]
    fn other_code_is_not_asked_for() {
        fine("`gone`. See [x](crates/a/src/store.rs); `gone` too");
        fine("`gone` in general. Then in [x](crates/a/src/store.rs)");
        fine("`--flag` in [x](crates/a/src/store.rs) and `gone` in [x](docs/x.md)");
        fine("```text\n[`gone`](crates/a/src/store.rs)\n```");
    }

    #[test]
    fn a_tour_names_nothing_that_its_files_do_not_have() {
        let tour = |text: &str| sentences("docs/tour/t.md", text);
        let link = "[store](../../crates/a/src/store.rs)";
        assert_eq!(tour(&format!("{link}: `Store::write`, `id`, `_rid`, `x-ms-date`")), [""; 0]);
        assert_eq!(
            tour(&format!("{link}: `find_container`")),
            ["docs/tour/t.md:1: `find_container` is in no file that this page links"]
        );
        fine("[store](crates/a/src/store.rs): `find_container`");
    }
}
