//! A collection: documents in a fixed order, each with a position from which a scan can resume.

use crate::access::{DeclaredIndexes, Indexes};
use crate::datum::Datum;
use crate::error::QueryError;
use std::ops::ControlFlow;

/// Where a scan begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    #[default]
    Beginning,
    /// At this position, or after it if nothing is there any more.
    At(Vec<u8>),
    After(Vec<u8>),
}

pub trait Collection {
    /// Shows the documents in order until `visit` stops the scan.
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError>;

    /// The indexes over these documents, if any are usable.
    fn indexes(&self) -> Option<&dyn Indexes> {
        None
    }

    /// The indexes that the policy declares. They may exist while [`indexes`](Self::indexes) returns
    /// none, because a few documents are simply scanned.
    fn declared(&self) -> Option<&dyn DeclaredIndexes> {
        self.indexes().map(|indexes| indexes as &dyn DeclaredIndexes)
    }

    /// The documents in ordinal order, if that costs about as much as a scan or if an earlier page has
    /// `begun` in that order.
    fn ordinal_scan(&self, _begun: bool) -> Result<Option<OrdinalScan<'_>>, QueryError> {
        Ok(None)
    }

    /// The location of a position that another view of the same documents produced; this collection may
    /// be a part of it.
    fn relative_position(&self, _position: &[u8]) -> RelativePosition {
        RelativePosition::Inside
    }
}

/// Shows documents from an ordinal on, in ordinal order; positions are ordinals of eight bytes.
pub type OrdinalScan<'c> =
    Box<dyn Fn(u64, &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>) -> Result<(), QueryError> + 'c>;

/// The location of a position relative to this collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelativePosition {
    /// Before every document here.
    Before,
    Inside,
    /// After every document here.
    After,
}

/// A document returned by a scan or fetched through an index.
pub struct ScannedDocument<'a> {
    /// Positions sort in scan order.
    pub position: &'a [u8],
    /// A number unique in the collection; ties of an ORDER BY are broken by it.
    pub ordinal: u64,
    /// Its number among those with the same ordinal: rows that a subquery derived from one document.
    pub part: u32,
    pub bytes: usize,
    pub root: Datum<'a>,
}

/// A single empty row, for queries without FROM.
pub(crate) struct NoDocuments;

impl Collection for NoDocuments {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        if !matches!(start, Start::After(_)) {
            let _ = visit(ScannedDocument {
                position: &[],
                ordinal: 0,
                part: 0,
                bytes: 0,
                root: Datum::Undefined,
            });
        }
        Ok(())
    }
}
