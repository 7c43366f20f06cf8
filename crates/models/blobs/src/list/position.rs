//! Where a page ends, as its marker says.

use super::states::Order;
use crate::marker;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Behind one state of a name.
    After { name: String, order: Order },
    /// Behind everything with a common prefix.
    Behind { prefix: String },
}

const AFTER: u8 = 1;
const BEHIND: u8 = 2;

impl Position {
    /// Before everything of a name.
    pub fn before(name: &str) -> Self {
        Self::After { name: name.to_owned(), order: Order::FIRST }
    }

    /// Behind everything of a name.
    pub fn behind_name(name: &str) -> Self {
        Self::After { name: name.to_owned(), order: Order::LAST }
    }

    /// Whether `other`, a state, comes after it.
    pub fn is_before(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::After { name, order }, Self::After { name: other, order: later }) => {
                (name, order) < (other, later)
            }
            _ => true,
        }
    }

    pub fn write(&self) -> String {
        marker::write(&match self {
            Self::After { name, order } => [&[AFTER], &order.write()[..], name.as_bytes()].concat(),
            Self::Behind { prefix } => [&[BEHIND], prefix.as_bytes()].concat(),
        })
    }

    pub fn read(text: &str) -> Option<Self> {
        let bytes = marker::read(text)?;
        let (what, rest) = bytes.split_first()?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        match *what {
            AFTER => {
                let (order, name) = rest.split_first_chunk()?;
                Some(Self::After { name: text(name)?, order: Order::read(*order) })
            }
            BEHIND => Some(Self::Behind { prefix: text(rest)? }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_read_back() {
        for position in [
            Position::before("a/é"),
            Position::behind_name("a"),
            Position::Behind { prefix: "runs/2026/".to_owned() },
        ] {
            let text = position.write();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            assert_eq!(Position::read(&text), Some(position));
        }
        for wrong in ["", "a", "AQ", "!!", "A_8"] {
            assert_eq!(Position::read(wrong), None, "{wrong}");
        }
    }
}
