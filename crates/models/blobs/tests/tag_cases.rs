//! Runs `cases/tags/`.
//!
//! ```text
//! filters/, expressions/   filter <text>, then shows <as it is printed> or error at <byte> <message>
//! meaning/                 true <expression> and false <expression>, of one blob
//! ```

use orrery_blobs::tags::{TagExpression, TagFilter, TagSet, TagSyntaxError};
use orrery_testing_golden::{case_files, lines};
use std::fs;
use std::path::Path;

fn show(filter: &TagFilter) -> String {
    let container = filter.container.iter().map(|name| format!("@container = '{}'", name.as_str()));
    let comparisons = filter.comparisons.iter().map(ToString::to_string);
    container.chain(comparisons).collect::<Vec<_>>().join(" AND ")
}

fn run(folder: &str, read: impl Fn(&str) -> Result<String, TagSyntaxError>) -> usize {
    let (mut cases, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let lines = lines(&text);
        for pair in lines.chunks(2) {
            let [input, expected] = pair else { panic!("{}: a case without an outcome", file.display()) };
            assert_eq!(input.keyword, "filter", "{}:{}", file.display(), input.from + 1);
            cases += 1;
            let got = match read(&input.text) {
                Ok(shown) => {
                    let again = read(&shown).expect("what is printed is read");
                    assert_eq!(again, shown, "{}:{}", file.display(), input.from + 1);
                    format!("shows {shown}")
                }
                Err(error) => format!("error at {} {}", error.at, error.what),
            };
            let expected_text = format!("{} {}", expected.keyword, expected.text);
            if got != expected_text {
                failures.push(format!(
                    "{}:{}:\n  expected {expected_text}\n  got      {got}",
                    file.display(),
                    input.from + 1
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} cases failed:\n{}", failures.len(), failures.join("\n"));
    cases
}

#[test]
fn filters_are_read_or_refused() {
    let cases = run("cases/tags/filters", |text| TagFilter::parse(text).map(|filter| show(&filter)));
    assert!(cases >= 30, "only {cases} cases");
}

#[test]
fn expressions_are_read_or_refused() {
    let cases = run("cases/tags/expressions", |text| TagExpression::parse(text).map(|read| read.to_string()));
    assert!(cases >= 8, "only {cases} cases");
}

#[test]
fn expressions_mean_what_they_should() {
    let pairs = [("a", "1"), ("b", "two words"), ("empty", ""), ("Case", "X")];
    let tags = TagSet::new(pairs.map(|(key, value)| (key.to_owned(), value.to_owned()))).expect("four tags");
    let (mut cases, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/tags/meaning"), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        for line in lines(&text) {
            cases += 1;
            let expression =
                TagExpression::parse(&line.text).unwrap_or_else(|error| panic!("{}: {error}", line.text));
            if expression.matches(&tags).to_string() != line.keyword {
                failures.push(line.text);
            }
        }
    }
    assert!(failures.is_empty(), "these are not so: {failures:?}");
    assert!(cases >= 25, "only {cases} cases");
}

#[test]
fn nothing_is_read_without_end() {
    let many = vec!["a = '1'"; 65].join(" AND ");
    assert!(TagFilter::parse(&many).is_err());
    assert!(TagFilter::parse(&vec!["a = '1'"; 64].join(" AND ")).is_ok());
    let deep = format!("{}a = '1'{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(TagExpression::parse(&deep).is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in r#"[a@"'=<>() é1andor]{0,30}"#) {
        let _ = TagFilter::parse(&text);
        let _ = TagExpression::parse(&text);
    }
}
