//! Keywords: the words that cannot be names.
//!
//! They are case-insensitive. Some have no meaning yet ([`Keyword::Reserved`]), but the service does not
//! accept them as names, so that `FROM c INNER JOIN …` is an error and not an alias. After a dot, and as a
//! member of an object, every word is a name. `RANK` is not a keyword: it has a meaning only after `ORDER
//! BY`, and is a name elsewhere.

/// The length of the longest keyword.
const LENGTH_MAX: usize = 9;

macro_rules! keywords {
    ($($text:literal $keyword:ident,)*) => {
        /// Sorted by text, for binary search.
        const TABLE: &[(&str, Keyword)] = &[$(($text, Keyword::$keyword),)*];
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    And,
    Array,
    As,
    Asc,
    Between,
    By,
    Desc,
    Distinct,
    Escape,
    Exists,
    False,
    From,
    Group,
    In,
    Join,
    Left,
    Like,
    Limit,
    Not,
    Null,
    Offset,
    Or,
    Order,
    Right,
    Select,
    Top,
    True,
    Udf,
    Undefined,
    Value,
    Where,
    /// Reserved but unused.
    Reserved,
}

keywords! {
    "AND" And,
    "ARRAY" Array,
    "AS" As,
    "ASC" Asc,
    "BETWEEN" Between,
    "BY" By,
    "CASE" Reserved,
    "CAST" Reserved,
    "CONVERT" Reserved,
    "CROSS" Reserved,
    "DESC" Desc,
    "DISTINCT" Distinct,
    "ELSE" Reserved,
    "END" Reserved,
    "ESCAPE" Escape,
    "EXISTS" Exists,
    "FALSE" False,
    "FOR" Reserved,
    "FROM" From,
    "GROUP" Group,
    "HAVING" Reserved,
    "IN" In,
    "INNER" Reserved,
    "INSERT" Reserved,
    "INTO" Reserved,
    "IS" Reserved,
    "JOIN" Join,
    "LEFT" Left,
    "LIKE" Like,
    "LIMIT" Limit,
    "NOT" Not,
    "NULL" Null,
    "OFFSET" Offset,
    "ON" Reserved,
    "OR" Or,
    "ORDER" Order,
    "OUTER" Reserved,
    "OVER" Reserved,
    "RIGHT" Right,
    "SELECT" Select,
    "SET" Reserved,
    "THEN" Reserved,
    "TOP" Top,
    "TRUE" True,
    "UDF" Udf,
    "UNDEFINED" Undefined,
    "UPDATE" Reserved,
    "VALUE" Value,
    "WHEN" Reserved,
    "WHERE" Where,
    "WITH" Reserved,
}

impl Keyword {
    pub fn find(word: &str) -> Option<Self> {
        let mut upper = [0; LENGTH_MAX];
        let upper = upper.get_mut(..word.len())?;
        upper.copy_from_slice(word.as_bytes());
        upper.make_ascii_uppercase();
        let found = TABLE.binary_search_by(|(text, _)| text.as_bytes().cmp(upper)).ok()?;
        Some(TABLE[found].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_its_longest_word_fits() {
        assert!(TABLE.is_sorted_by(|(a, _), (b, _)| a < b));
        assert_eq!(TABLE.iter().map(|(text, _)| text.len()).max(), Some(LENGTH_MAX));
    }

    #[test]
    fn a_keyword_is_known_in_any_case() {
        for word in ["select", "SELECT", "SeLeCt"] {
            assert_eq!(Keyword::find(word), Some(Keyword::Select));
        }
        for word in ["selec", "selects", "rank", "let", "undefinedly", "", "ſet"] {
            assert_eq!(Keyword::find(word), None, "{word}");
        }
    }
}
