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
    /// At this position, or behind it if nothing is there any more.
    At(Vec<u8>),
    After(Vec<u8>),
}

pub trait Collection {
    /// Shows the documents in order until it is told to stop.
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError>;

    /// The indexes over these documents, if there are any that can be used.
    fn indexes(&self) -> Option<&dyn Indexes> {
        None
    }

    /// The indexes that the policy gives these documents. There may be some where [`indexes`](Self::indexes) are none:
    /// a few documents are read through.
    fn declared(&self) -> Option<&dyn DeclaredIndexes> {
        self.indexes().map(|indexes| indexes as &dyn DeclaredIndexes)
    }

    /// The documents in ordinal order, where that costs about as much as a scan; or, if a page
    /// before has `begun` so, whatever it costs.
    fn ordinal_scan(&self, _begun: bool) -> Result<Option<OrdinalScan<'_>>, QueryError> {
        Ok(None)
    }

    /// Where a position lies that another collection of the same documents gave: this one may be a part of it.
    fn relative_position(&self, _position: &[u8]) -> RelativePosition {
        RelativePosition::Inside
    }
}

/// Shows documents from a number on, in ordinal order; positions are numbers of eight bytes.
pub type OrdinalScan<'c> =
    Box<dyn Fn(u64, &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>) -> Result<(), QueryError> + 'c>;

/// Where a position lies.
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
    /// Positions sort as the documents come.
    pub position: &'a [u8],
    /// A number no other document of the collection has; ties of an ORDER BY go by it.
    pub ordinal: u64,
    /// Its number among those of the same ordinal: rows that a subquery made of one document.
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
