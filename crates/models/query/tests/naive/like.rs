//! LIKE by trying everything: `%` any run of characters, `_` one, `[a-f]` and `[^a-f]` one of a set.

enum Part {
    Run,
    One,
    Is(char),
    Set { not: bool, ranges: Vec<(char, char)> },
}

/// Whether all of `text` fits the pattern; `None` when the pattern is broken.
pub fn like(text: &str, pattern: &str, escape: Option<char>) -> Option<bool> {
    let text: Vec<char> = text.chars().collect();
    Some(fits(&text, &parts(pattern, escape)?))
}

fn fits(text: &[char], parts: &[Part]) -> bool {
    let Some((part, rest)) = parts.split_first() else { return text.is_empty() };
    if let Part::Run = part {
        return (0..=text.len()).any(|n| fits(&text[n..], rest));
    }
    let Some((first, after)) = text.split_first() else { return false };
    takes(part, *first) && fits(after, rest)
}

fn takes(part: &Part, c: char) -> bool {
    match part {
        Part::Run | Part::One => true,
        Part::Is(wanted) => *wanted == c,
        Part::Set { not, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *not,
    }
}

fn parts(pattern: &str, escape: Option<char>) -> Option<Vec<Part>> {
    let mut rest = pattern.chars().peekable();
    let mut parts = Vec::new();
    while let Some(c) = rest.next() {
        parts.push(match c {
            c if Some(c) == escape => Part::Is(rest.next()?),
            '%' => Part::Run,
            '_' => Part::One,
            '[' => set(&mut rest)?,
            c => Part::Is(c),
        });
    }
    Some(parts)
}

fn set(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Part> {
    let not = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let low = rest.next()?;
        if low == ']' {
            return Some(Part::Set { not, ranges });
        }
        let high = if rest.next_if_eq(&'-').is_some() { rest.next()? } else { low };
        ranges.push((low, high));
    }
}

#[test]
fn patterns_fit_whole_texts() {
    let check =
        |text, pattern, expected| assert_eq!(like(text, pattern, None), Some(expected), "{text} {pattern}");
    check("fruit", "fruit", true);
    check("fruits", "fruit", false);
    check("fruits", "fru%", true);
    check("grapefruit", "%fruit", true);
    check("a fruit bar", "%fruit%", true);
    check("", "%", true);
    check("", "_", false);
    check("bat", "b_t", true);
    check("bt", "b_t", false);
    check("bat", "b[a-c]t", true);
    check("bdt", "b[a-c]t", false);
    check("bdt", "b[^a-c]t", true);
    check("20%", "20[%]", true);
    check("200", "20[%]", false);
    check("BAT", "bat", false);
    assert_eq!(like("20%", "20^%", Some('^')), Some(true));
    assert_eq!(like("20x", "20^%", Some('^')), Some(false));
    assert_eq!(like("x", "[a", None), None);
}
