//! The parentheses after a name in a path: `(PartitionKey='p',RowKey='r')` and `('name')`.
//!
//! The text is decoded before it is read here. Inside quotes everything is text, and `''` is one quote.

/// What the parentheses name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// `()`: all of them.
    All,
    /// `('x')`
    Name(String),
    Key {
        partition_key: String,
        row_key: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is written (PartitionKey='…',RowKey='…'), with each quote in a value doubled")]
pub struct InvalidPredicate;

/// Reads what stands between the parentheses.
pub fn parse(inside: &str) -> Result<Predicate, InvalidPredicate> {
    let inside = inside.trim();
    if inside.is_empty() {
        return Ok(Predicate::All);
    }
    if inside.starts_with('\'') {
        let (name, rest) = quoted(inside)?;
        return if rest.trim().is_empty() { Ok(Predicate::Name(name)) } else { Err(InvalidPredicate) };
    }
    let (first, rest) = named(inside)?;
    let (second, rest) = named(rest.trim_start().strip_prefix(',').ok_or(InvalidPredicate)?)?;
    if !rest.trim().is_empty() {
        return Err(InvalidPredicate);
    }
    match (first, second) {
        (("PartitionKey", partition_key), ("RowKey", row_key))
        | (("RowKey", row_key), ("PartitionKey", partition_key)) => {
            Ok(Predicate::Key { partition_key, row_key })
        }
        _ => Err(InvalidPredicate),
    }
}

/// `Name='value'`, and what follows it.
fn named(text: &str) -> Result<((&str, String), &str), InvalidPredicate> {
    let (name, value) = text.split_once('=').ok_or(InvalidPredicate)?;
    let (value, rest) = quoted(value.trim_start())?;
    Ok(((name.trim(), value), rest))
}

/// A quoted text, and what follows it.
fn quoted(text: &str) -> Result<(String, &str), InvalidPredicate> {
    let mut rest = text.strip_prefix('\'').ok_or(InvalidPredicate)?;
    let mut value = String::new();
    loop {
        let end = rest.find('\'').ok_or(InvalidPredicate)?;
        value.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                value.push('\'');
                rest = after;
            }
            None => return Ok((value, rest)),
        }
    }
}

/// The parentheses of an entity, as they stand in links: with quotes doubled, not percent-encoded.
pub fn write(partition_key: &str, row_key: &str) -> String {
    let double = |key: &str| key.replace('\'', "''");
    format!("(PartitionKey='{}',RowKey='{}')", double(partition_key), double(row_key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inside: &str, expected: Result<Predicate, InvalidPredicate>) {
        assert_eq!(parse(inside), expected, "{inside}");
    }

    fn key(partition_key: &str, row_key: &str) -> Result<Predicate, InvalidPredicate> {
        Ok(Predicate::Key { partition_key: partition_key.into(), row_key: row_key.into() })
    }

    #[test]
    fn a_key_is_read_in_either_order() {
        check("PartitionKey='p',RowKey='r'", key("p", "r"));
        check("RowKey='r',PartitionKey='p'", key("p", "r"));
        check(" PartitionKey = 'p' , RowKey = 'r' ", key("p", "r"));
        check("PartitionKey='',RowKey=''", key("", ""));
    }

    #[test]
    fn a_value_may_hold_what_else_has_a_meaning() {
        check("PartitionKey='a,b=c(d)',RowKey='''x'''", key("a,b=c(d)", "'x'"));
        check("PartitionKey='RowKey=''r''',RowKey='é 日'", key("RowKey='r'", "é 日"));
    }

    #[test]
    fn a_name_alone_and_nothing_are_read() {
        check("", Ok(Predicate::All));
        check("'runs'", Ok(Predicate::Name("runs".into())));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for inside in [
            "PartitionKey='p'",
            "PartitionKey='p',PartitionKey='q'",
            "PartitionKey='p',RowKey='r',More='x'",
            "PartitionKey='p' RowKey='r'",
            "PartitionKey=p,RowKey=r",
            "PartitionKey='p',RowKey='r",
            "PartitionKey='p'x',RowKey='r'",
            "partitionkey='p',rowkey='r'",
            "'a'b",
            "'a",
            ",",
        ] {
            check(inside, Err(InvalidPredicate));
        }
    }

    #[test]
    fn a_written_key_is_read_back() {
        for (partition_key, row_key) in [("p", "r"), ("", ""), ("o'clock", "''"), ("a,b", "(=)")] {
            let written = write(partition_key, row_key);
            check(&written[1..written.len() - 1], key(partition_key, row_key));
        }
    }
}
