//! Request charges: what an operation would have cost, from the bytes it touched.
//!
//! The published points: a 1 KB point read costs 1 RU, a 1 KB write with the default indexing about 5.3 to 7,
//! both growing with size. Deterministic: the same operation on the same item costs the same.

/// Hundredths of a request unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Charge(u64);

const READ_PER_KB: u64 = 100;
const WRITE_PER_KB: u64 = 533;
const FEED_BASE: u64 = 200;

impl Charge {
    pub fn point_read(bytes: usize) -> Self {
        Self(READ_PER_KB * kilobytes(bytes))
    }

    /// A create or delete writes once, a replace reads what it replaces besides.
    pub fn write(bytes: usize, replaced_bytes: usize) -> Self {
        let replaced = if replaced_bytes == 0 { 0 } else { READ_PER_KB * kilobytes(replaced_bytes) };
        Self(WRITE_PER_KB * kilobytes(bytes) + replaced)
    }

    pub fn page(items: usize, bytes: usize) -> Self {
        Self(FEED_BASE + items as u64 * 2 + bytes as u64 * READ_PER_KB / 1024 / 2)
    }

    pub fn metadata() -> Self {
        Self(200)
    }

    /// What a failed operation costs: it looked, but wrote nothing.
    pub fn refused() -> Self {
        Self(124)
    }
}

fn kilobytes(bytes: usize) -> u64 {
    bytes.div_ceil(1024).max(1) as u64
}

impl std::fmt::Display for Charge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, hundredths) = (self.0 / 100, self.0 % 100);
        if hundredths == 0 { write!(f, "{whole}") } else { write!(f, "{whole}.{hundredths:02}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_points() {
        assert_eq!(Charge::point_read(1000).to_string(), "1");
        assert_eq!(Charge::point_read(50 * 1024).to_string(), "50");
        assert_eq!(Charge::write(1000, 0).to_string(), "5.33");
        assert_eq!(Charge::write(1000, 1000).to_string(), "6.33");
    }
}
