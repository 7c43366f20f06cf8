//! A sorted run: rows in key order, in one piece of memory, never changed. It holds the rows of one
//! commit, or of several merged ones.
//!
//! Each row is the length of its key (2 bytes), the length of its value plus one, or 0 for a
//! removal (4 bytes), the key and the value.

use bytes::{BufMut as _, Bytes};
use orrery_kv::{KeyRange, Put};
use std::cmp::Ordering;

const HEAD_BYTES: usize = 6;

pub struct Run {
    rows: Bytes,
    /// Offset of each row.
    starts: Vec<u32>,
}

/// A key with its value; without a value, a removal.
pub type Entry<'a> = (&'a [u8], Option<&'a [u8]>);

impl Run {
    /// Encoded size of a put.
    fn bytes_of(put: &Put) -> usize {
        HEAD_BYTES + put.key.len() + put.value.as_ref().map_or(0, Bytes::len)
    }

    /// From puts in key order; of equal keys the last one counts.
    pub fn of(puts: &[Put]) -> Self {
        let mut rows = Vec::with_capacity(puts.iter().map(Self::bytes_of).sum());
        let mut starts = Vec::with_capacity(puts.len());
        for put in puts.chunk_by(|a, b| a.key == b.key).filter_map(<[Put]>::last) {
            starts.push(rows.len() as u32);
            write_row(&put.key, put.value.as_deref(), &mut rows);
        }
        Self { rows: Bytes::from(rows), starts }
    }

    /// Decodes [`rows`](Self::rows); `None` if it is damaged.
    pub fn read(rows: Bytes) -> Option<Self> {
        let mut starts = Vec::new();
        let mut at = 0;
        while at < rows.len() {
            let (key, value) = lengths(rows.get(at..)?)?;
            starts.push(u32::try_from(at).ok()?);
            at += HEAD_BYTES + key + value.unwrap_or(0);
        }
        let run = Self { rows, starts };
        let is_sound = at == run.rows.len() && (1..run.len()).all(|next| run.key(next - 1) < run.key(next));
        is_sound.then_some(run)
    }

    /// The rows of both; of equal keys the newer one counts.
    pub fn merged(older: &Self, newer: &Self) -> Self {
        let mut rows = Vec::with_capacity(older.bytes() + newer.bytes());
        let mut starts = Vec::with_capacity(older.len() + newer.len());
        let (mut old, mut new) = (0, 0);
        while old < older.len() || new < newer.len() {
            let order = match (old < older.len(), new < newer.len()) {
                (true, true) => older.key(old).cmp(newer.key(new)),
                (is_left, _) => {
                    if is_left {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
            };
            starts.push(rows.len() as u32);
            rows.extend_from_slice(if order.is_lt() { older.row(old) } else { newer.row(new) });
            old += usize::from(order.is_le());
            new += usize::from(order.is_ge());
        }
        Self { rows: Bytes::from(rows), starts }
    }

    pub fn rows(&self) -> &Bytes {
        &self.rows
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn bytes(&self) -> usize {
        self.rows.len()
    }

    pub fn key(&self, at: usize) -> &[u8] {
        self.entry(at).0
    }

    pub fn entry(&self, at: usize) -> Entry<'_> {
        let row = &self.rows[self.starts[at] as usize..];
        let (key, value) = lengths(row).unwrap_or_default();
        let row = &row[HEAD_BYTES..];
        (&row[..key], value.map(|value| &row[key..key + value]))
    }

    /// `None`: the run does not have the key. `Some(None)`: the run removes it.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        let at = self.position(key);
        (at < self.len()).then(|| self.entry(at)).filter(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// Positions of the rows of a range.
    pub fn within(&self, range: &KeyRange) -> std::ops::Range<usize> {
        let end = range.end.as_deref().map_or(self.len(), |end| self.position(end));
        self.position(&range.start).min(end)..end
    }

    /// The first row whose key is not before this one.
    fn position(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle) < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    fn row(&self, at: usize) -> &[u8] {
        let end = self.starts.get(at + 1).map_or(self.rows.len(), |end| *end as usize);
        &self.rows[self.starts[at] as usize..end]
    }
}

/// Lengths of key and value, if a whole row is there.
fn lengths(row: &[u8]) -> Option<(usize, Option<usize>)> {
    let head: [u8; HEAD_BYTES] = *row.first_chunk()?;
    let [a, b, c, d, e, f] = head;
    let key = usize::from(u16::from_be_bytes([a, b]));
    let value = (u32::from_be_bytes([c, d, e, f]) as usize).checked_sub(1);
    (row.len() >= HEAD_BYTES + key + value.unwrap_or(0)).then_some((key, value))
}

fn write_row(key: &[u8], value: Option<&[u8]>, to: &mut Vec<u8>) {
    assert!(key.len() <= usize::from(u16::MAX), "keys have at most 65,535 bytes, as in the engine below");
    to.put_u16(key.len() as u16);
    to.put_u32(value.map_or(0, |value| value.len() as u32 + 1));
    to.extend_from_slice(key);
    to.extend_from_slice(value.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kv::contract::INDEX;

    fn run(puts: &[(&'static str, Option<&'static str>)]) -> Run {
        let put = |(key, value): &(&'static str, Option<&'static str>)| Put {
            space: INDEX,
            key: Bytes::from_static(key.as_bytes()),
            value: value.map(|value| Bytes::from_static(value.as_bytes())),
        };
        Run::of(&puts.iter().map(put).collect::<Vec<_>>())
    }

    fn entries(run: &Run) -> Vec<Entry<'_>> {
        (0..run.len()).map(|at| run.entry(at)).collect()
    }

    #[test]
    fn a_run_is_read_as_it_was_written() {
        let run = run(&[("a", Some("1")), ("b", None), ("b", Some("")), ("c", Some("3")), ("c", None)]);
        let read = Run::read(run.rows().clone()).expect("sound");
        let wanted: [Entry<'_>; 3] = [(b"a", Some(b"1")), (b"b", Some(b"")), (b"c", None)];
        assert_eq!(entries(&read), wanted);
        assert_eq!(entries(&run), wanted);
        assert_eq!(
            (read.get(b"b"), read.get(b"c"), read.get(b"bb")),
            (Some(Some(&b""[..])), Some(None), None)
        );
    }

    #[test]
    fn what_is_cut_or_out_of_order_is_no_run() {
        let rows = run(&[("a", Some("1")), ("b", Some("22"))]).rows().clone();
        assert!(Run::read(rows.clone()).is_some() && Run::read(Bytes::new()).is_some());
        let half = rows.len() / 2;
        for end in (1..rows.len()).filter(|end| *end != half) {
            assert!(Run::read(rows.slice(..end)).is_none_or(|run| run.len() == 1), "up to {end}");
        }
        let turned = [&rows[HEAD_BYTES + 2..], &rows[..HEAD_BYTES + 2]].concat();
        assert!(Run::read(Bytes::from(turned)).is_none());
        assert!(Run::read(Bytes::from([&rows[..], &rows[..]].concat())).is_none());
    }

    #[test]
    fn of_two_runs_the_newer_is_right() {
        let older = run(&[("a", Some("1")), ("b", Some("1")), ("c", None), ("e", Some("1"))]);
        let newer = run(&[("b", None), ("c", Some("2")), ("d", Some("2")), ("f", Some("2"))]);
        let merged = Run::merged(&older, &newer);
        let wanted = run(&[
            ("a", Some("1")),
            ("b", None),
            ("c", Some("2")),
            ("d", Some("2")),
            ("e", Some("1")),
            ("f", Some("2")),
        ]);
        assert_eq!(entries(&merged), entries(&wanted));
        assert_eq!(merged.within(&KeyRange::new(b"b".to_vec(), b"e".to_vec())), 1..4);
        assert_eq!(merged.within(&KeyRange::new(b"e".to_vec(), b"b".to_vec())).len(), 0);
        assert_eq!(merged.within(&KeyRange::all()), 0..6);
    }
}
