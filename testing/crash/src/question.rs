//! What queries must answer, worked out from the items that the feed showed. Touches nothing.

use crate::content;
use crate::history::{Items, Key, Seq};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A query, in a form that can also be answered by looking at every item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub filter: Filter,
    pub wants: Wants,
    /// The one partition that is asked; all if `None`.
    pub partition: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    Kind(u64),
    Tag(u64),
    /// From the first rank up to, but not including, the second.
    Ranks(u64, u64),
    KindAndRanks(u64, u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    Rows,
    /// Rows by their rank.
    Ranked(Direction),
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// In the order they came.
    Rows(Vec<(Key, Seq)>),
    Count(u64),
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    Lacks {
        key: Key,
        seq: Seq,
        and_more: usize,
    },
    /// It does not match, is not there any more, or was given already.
    HasTooMuch {
        key: Key,
        seq: Seq,
        and_more: usize,
    },
    OutOfOrder {
        key: Key,
    },
    Counts {
        expected: u64,
        counted: u64,
    },
    /// Rows where a number was asked for, or the other way.
    Shape,
}

/// Ranks that a question spans: a few in a hundred items.
const RANKS_SPAN: u64 = 25;

/// The questions of one round; `random` chooses the values they ask for.
pub fn questions(random: u64, partition: &str) -> Vec<Question> {
    let (kind, tag) = (random % content::KINDS, random / 31 % content::TAGS);
    let rank = random / 1009 % (content::RANKS - RANKS_SPAN);
    let ranks = Filter::Ranks(rank, rank + RANKS_SPAN);
    let both = Filter::KindAndRanks(kind, rank, rank + 10 * RANKS_SPAN);
    let everywhere = [
        (Filter::Kind(kind), Wants::Rows),
        (Filter::Tag(tag), Wants::Rows),
        (ranks.clone(), Wants::Ranked(Direction::Up)),
        (both.clone(), Wants::Ranked(Direction::Down)),
        (Filter::Kind(kind), Wants::Count),
        (ranks.clone(), Wants::Count),
    ];
    let inside = [
        (Filter::Tag(tag), Wants::Rows),
        (ranks, Wants::Ranked(Direction::Down)),
        (both, Wants::Ranked(Direction::Up)),
        (Filter::Kind(kind), Wants::Count),
    ];
    let ask = |partition: Option<&str>, (filter, wants)| Question {
        filter,
        wants,
        partition: partition.map(str::to_owned),
    };
    let everywhere = everywhere.into_iter().map(|asked| ask(None, asked));
    everywhere.chain(inside.into_iter().map(|asked| ask(Some(partition), asked))).collect()
}

impl Question {
    /// The body of the query's request.
    pub fn body(&self) -> Value {
        json!({"query": self.text()})
    }

    pub fn text(&self) -> String {
        let filter = self.filter.text();
        match self.wants {
            Wants::Count => format!("SELECT VALUE COUNT(1) FROM c WHERE {filter}"),
            Wants::Rows => format!("SELECT c.id, c.pk, c.seq FROM c WHERE {filter}"),
            Wants::Ranked(direction) => {
                let order = match direction {
                    Direction::Up => "ASC",
                    Direction::Down => "DESC",
                };
                format!("SELECT c.id, c.pk, c.seq FROM c WHERE {filter} ORDER BY c.info.rank {order}")
            }
        }
    }

    /// The answer in the rows that a server gave.
    pub fn read(&self, rows: &[Value]) -> Result<Answer, String> {
        match (self.wants, rows) {
            (Wants::Count, [count]) => {
                count.as_u64().map(Answer::Count).ok_or(format!("{count} is no count"))
            }
            (Wants::Count, rows) => Err(format!("{} rows where one was asked for", rows.len())),
            (Wants::Rows | Wants::Ranked(_), rows) => {
                rows.iter().map(read_row).collect::<Result<_, _>>().map(Answer::Rows)
            }
        }
    }

    /// What is wrong with an answer, if these are the items.
    pub fn audit(&self, items: &Items, answer: &Answer) -> Option<Wrong> {
        let expected = items.iter().filter(|(key, found)| self.matches(key, found.seq));
        match (self.wants, answer) {
            (Wants::Count, Answer::Count(counted)) => {
                let expected = expected.count() as u64;
                (expected != *counted).then_some(Wrong::Counts { expected, counted: *counted })
            }
            (Wants::Rows | Wants::Ranked(_), Answer::Rows(rows)) => {
                let expected = expected.map(|(key, found)| (key, found.seq)).collect();
                audit_rows(expected, rows).or_else(|| self.audit_order(rows))
            }
            _ => Some(Wrong::Shape),
        }
    }

    /// Whether an item that this attempt made is in the answer.
    pub fn matches(&self, key: &Key, seq: Seq) -> bool {
        self.partition.as_ref().is_none_or(|partition| *partition == key.partition)
            && self.filter.matches(seq)
    }

    /// Whether an item that these attempts made in turn has one place among the rows. One that moves meanwhile may
    /// come from a page that is still to be asked for to one that was already given.
    pub fn stays_in_place(&self, seqs: &[Seq]) -> bool {
        self.wants == Wants::Rows
            || seqs.windows(2).all(|pair| content::rank(pair[0]) == content::rank(pair[1]))
    }

    fn audit_order(&self, rows: &[(Key, Seq)]) -> Option<Wrong> {
        let Wants::Ranked(direction) = self.wants else { return None };
        let stands = |a: &(Key, Seq), b: &(Key, Seq)| match direction {
            Direction::Up => content::rank(a.1) <= content::rank(b.1),
            Direction::Down => content::rank(a.1) >= content::rank(b.1),
        };
        let fallen = rows.windows(2).find(|pair| !stands(&pair[0], &pair[1]))?;
        Some(Wrong::OutOfOrder { key: fallen[1].0.clone() })
    }
}

impl Filter {
    fn text(&self) -> String {
        match self {
            Self::Kind(kind) => format!("c.kind = 'k{kind}'"),
            Self::Tag(tag) => format!("ARRAY_CONTAINS(c.tags, 't{tag}')"),
            Self::Ranks(from, to) => format!("c.info.rank >= {from} AND c.info.rank < {to}"),
            Self::KindAndRanks(kind, from, to) => {
                format!("{} AND {}", Self::Kind(*kind).text(), Self::Ranks(*from, *to).text())
            }
        }
    }

    fn matches(&self, seq: Seq) -> bool {
        match self {
            Self::Kind(kind) => content::kind(seq) == *kind,
            Self::Tag(tag) => content::tags(seq).contains(tag),
            Self::Ranks(from, to) => (*from..*to).contains(&content::rank(seq)),
            Self::KindAndRanks(kind, from, to) => {
                Self::Kind(*kind).matches(seq) && Self::Ranks(*from, *to).matches(seq)
            }
        }
    }
}

fn read_row(row: &Value) -> Result<(Key, Seq), String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).ok_or(format!("no `{name}` in {row}"));
    let key = Key { partition: text("pk")?.to_owned(), id: text("id")?.to_owned() };
    let seq = row.get("seq").and_then(Value::as_u64).ok_or(format!("no `seq` in {row}"))?;
    Ok((key, seq))
}

fn audit_rows(mut expected: BTreeMap<&Key, Seq>, rows: &[(Key, Seq)]) -> Option<Wrong> {
    // Each is taken once, so the second of two is too much.
    let surplus: Vec<_> = rows.iter().filter(|(key, seq)| expected.remove(key) != Some(*seq)).collect();
    if let [(key, seq), rest @ ..] = &surplus[..] {
        return Some(Wrong::HasTooMuch { key: key.clone(), seq: *seq, and_more: rest.len() });
    }
    let (key, seq) = expected.first_key_value()?;
    Some(Wrong::Lacks { key: (*key).clone(), seq: *seq, and_more: expected.len() - 1 })
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lacks { key, seq, and_more } => {
                write!(f, "lacks {key} (attempt {seq}) and {and_more} more")
            }
            Self::HasTooMuch { key, seq, and_more } => {
                write!(
                    f,
                    "has {key} (attempt {seq}) and {and_more} more that it should not have, or not again"
                )
            }
            Self::OutOfOrder { key } => write!(f, "has {key} out of order"),
            Self::Counts { expected, counted } => write!(f, "counts {counted} where there are {expected}"),
            Self::Shape => write!(f, "is of another shape"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Found;

    fn key(n: u64) -> Key {
        Key { partition: if n.is_multiple_of(2) { "even" } else { "odd" }.to_owned(), id: n.to_string() }
    }

    /// Items 0 to 99, each made by the attempt of its number.
    fn items() -> Items {
        (0..100).map(|n| (key(n), Found { seq: n, etag: String::new() })).collect()
    }

    fn ask(filter: Filter, wants: Wants) -> Question {
        Question { filter, wants, partition: None }
    }

    fn rows(seqs: &[u64]) -> Answer {
        Answer::Rows(seqs.iter().map(|seq| (key(*seq), *seq)).collect())
    }

    fn of_kind_3() -> Vec<u64> {
        (0..100).filter(|seq| content::kind(*seq) == 3).collect()
    }

    #[test]
    fn the_items_that_match_are_the_right_answer_in_any_order() {
        let mut seqs = of_kind_3();
        assert_eq!(seqs, [3, 26, 49, 72, 95]);
        let question = ask(Filter::Kind(3), Wants::Rows);
        assert_eq!(question.audit(&items(), &rows(&seqs)), None);
        seqs.reverse();
        assert_eq!(question.audit(&items(), &rows(&seqs)), None);
    }

    #[test]
    fn a_row_too_few_too_many_twice_or_of_an_older_version_is_found() {
        let (question, seqs) = (ask(Filter::Kind(3), Wants::Rows), of_kind_3());
        let lacks = Wrong::Lacks { key: key(95), seq: 95, and_more: 0 };
        assert_eq!(question.audit(&items(), &rows(&seqs[..4])), Some(lacks));
        let too_much = |seq: u64| Some(Wrong::HasTooMuch { key: key(seq), seq, and_more: 0 });
        assert_eq!(question.audit(&items(), &rows(&[&seqs[..], &[4]].concat())), too_much(4));
        assert_eq!(question.audit(&items(), &rows(&[&seqs[..], &[26]].concat())), too_much(26));
        let mut older = seqs.iter().map(|seq| (key(*seq), *seq)).collect::<Vec<_>>();
        older[0].1 = 2;
        let wrong = Wrong::HasTooMuch { key: key(3), seq: 2, and_more: 0 };
        assert_eq!(question.audit(&items(), &Answer::Rows(older)), Some(wrong));
    }

    #[test]
    fn rows_out_of_order_are_found_only_where_an_order_was_asked_for() {
        let mut seqs: Vec<u64> = (0..100).filter(|seq| content::rank(*seq) < 250).collect();
        seqs.sort_by_key(|seq| content::rank(*seq));
        let (up, down) = (Wants::Ranked(Direction::Up), Wants::Ranked(Direction::Down));
        let ask = |wants| ask(Filter::Ranks(0, 250), wants);
        assert_eq!(ask(up).audit(&items(), &rows(&seqs)), None);
        let fallen = Wrong::OutOfOrder { key: key(seqs[1]) };
        assert_eq!(ask(down).audit(&items(), &rows(&seqs)), Some(fallen));
        seqs.reverse();
        assert_eq!(ask(down).audit(&items(), &rows(&seqs)), None);
        seqs.swap(0, 9);
        assert!(ask(down).audit(&items(), &rows(&seqs)).is_some());
        assert_eq!(ask(Wants::Rows).audit(&items(), &rows(&seqs)), None);
    }

    #[test]
    fn a_count_is_of_the_items_of_its_partition() {
        let question = Question { partition: Some("odd".to_owned()), ..ask(Filter::Kind(3), Wants::Count) };
        assert_eq!(question.audit(&items(), &Answer::Count(3)), None, "3, 49 and 95 are odd");
        let wrong = Wrong::Counts { expected: 3, counted: 5 };
        assert_eq!(question.audit(&items(), &Answer::Count(5)), Some(wrong));
        let nowhere = Question { partition: Some("none".to_owned()), ..question.clone() };
        assert_eq!(nowhere.audit(&items(), &Answer::Count(0)), None);
        assert_eq!(question.audit(&items(), &rows(&[])), Some(Wrong::Shape));
    }

    #[test]
    fn every_question_finds_something_among_many_items() {
        let many: Items = (0..20_000).map(|n| (key(n), Found { seq: n, etag: String::new() })).collect();
        for question in (0..50).flat_map(|n: u64| questions(n.wrapping_mul(0x9e37_79b9_7f4a_7c15), "odd")) {
            let found = many.iter().filter(|(key, found)| question.matches(key, found.seq)).count();
            assert!((10..2000).contains(&found), "{}: {found}", question.text());
        }
    }

    #[test]
    fn rows_are_read_as_a_server_writes_them() {
        let question = ask(Filter::Kind(3), Wants::Rows);
        let row = json!({"id": "3", "pk": "odd", "seq": 3});
        assert_eq!(question.read(&[row]), Ok(rows(&[3])));
        assert!(question.read(&[json!({"id": "3", "pk": "odd"})]).is_err());
        let count = ask(Filter::Kind(3), Wants::Count);
        assert_eq!(count.read(&[json!(5)]), Ok(Answer::Count(5)));
        assert!(count.read(&[json!(5), json!(6)]).is_err(), "a count is one row");
    }
}
