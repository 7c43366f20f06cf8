//! The options of a query: `$filter`, `$select`, `$top`, and where the page before ended.

use crate::continuation;
use crate::errors::InvalidOption;
use orrery_tables::limits::PAGE_ROWS_MAX;
use orrery_tables::{Filter, Position};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryOptions {
    pub filter: Option<Filter>,
    pub select: Option<Vec<String>>,
    pub top: Option<usize>,
    pub next_partition_key: Option<String>,
    pub next_row_key: Option<String>,
    pub next_table_name: Option<String>,
}

/// Options of OData that this service does not have.
const ABSENT: [&str; 8] =
    ["$orderby", "$skip", "$count", "$inlinecount", "$expand", "$apply", "$search", "$skiptoken"];

impl QueryOptions {
    /// From the parameters of a URL, as they are meant. Others than these are somebody else's.
    pub fn read<'a>(
        parameters: impl Iterator<Item = (impl AsRef<str>, impl AsRef<str> + 'a)>,
    ) -> Result<Self, InvalidOption> {
        let mut options = Self::default();
        for (name, value) in parameters {
            options.set(&name.as_ref().to_ascii_lowercase(), value.as_ref())?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), InvalidOption> {
        let key = || continuation::read(value).map(Some);
        match name {
            "$filter" if !value.trim().is_empty() => self.filter = Some(Filter::parse(value)?),
            "$select" => self.select = select(value),
            "$top" => self.top = Some(top(value)?),
            "nextpartitionkey" if !value.is_empty() => self.next_partition_key = key()?,
            "nextrowkey" if !value.is_empty() => self.next_row_key = key()?,
            "nexttablename" if !value.is_empty() => self.next_table_name = key()?,
            _ if ABSENT.contains(&name) => return Err(InvalidOption::Absent(name.to_owned())),
            _ => {}
        }
        Ok(())
    }

    /// Where to go on among entities.
    pub fn position(&self) -> Option<Position> {
        let partition_key = self.next_partition_key.clone()?;
        Some(Position { partition_key, row_key: self.next_row_key.clone() })
    }
}

/// `*` and an empty list select everything.
fn select(value: &str) -> Option<Vec<String>> {
    let names: Vec<String> =
        value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (!names.is_empty() && !names.iter().any(|name| name == "*")).then_some(names)
}

fn top(value: &str) -> Result<usize, InvalidOption> {
    let top = value.trim().parse().ok().filter(|top| (1..=PAGE_ROWS_MAX).contains(top));
    top.ok_or(InvalidOption::Top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parameters: &[(&str, &str)]) -> Result<QueryOptions, InvalidOption> {
        QueryOptions::read(parameters.iter().copied())
    }

    #[test]
    fn options_are_read_whatever_their_case_and_order() {
        let options = read(&[("$TOP", "5"), ("$select", "a, b,"), ("sv", "2019-02-02"), ("timeout", "30")]);
        let expected = QueryOptions {
            top: Some(5),
            select: Some(vec!["a".to_owned(), "b".to_owned()]),
            ..QueryOptions::default()
        };
        assert_eq!(options.ok(), Some(expected));
        assert_eq!(
            read(&[("$select", "a,*"), ("$filter", " "), ("NextRowKey", "")]).ok(),
            Some(QueryOptions::default())
        );
    }

    #[test]
    fn a_page_goes_on_where_the_one_before_ended() {
        let position = |parameters: &[(&str, &str)]| read(parameters).expect("options").position();
        let [p, r] = ["p", ""].map(continuation::write);
        let both = position(&[("NextPartitionKey", &p), ("NextRowKey", &r)]);
        assert_eq!(both, Some(Position { partition_key: "p".to_owned(), row_key: Some(String::new()) }));
        let one = position(&[("NextPartitionKey", &p)]);
        assert_eq!(one, Some(Position { partition_key: "p".to_owned(), row_key: None }));
        assert_eq!(position(&[("NextRowKey", &r)]), None);
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for top in ["0", "1001", "-1", "x", ""] {
            assert!(matches!(read(&[("$top", top)]), Err(InvalidOption::Top)), "{top}");
        }
        assert!(matches!(read(&[("$orderby", "a")]), Err(InvalidOption::Absent(_))));
        assert!(matches!(read(&[("$filter", "a eq")]), Err(InvalidOption::Filter(_))));
        assert!(matches!(read(&[("NextTableName", "x")]), Err(InvalidOption::Continuation(_))));
    }
}
