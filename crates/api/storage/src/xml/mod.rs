//! The small XML documents of storage: written by [`Writer`], read into an [`Element`].
//!
//! Texts are kept to the letter: white space, line breaks, CDATA and references. *Absent: namespaces, DTDs, entities of a
//! document's own; a document with a DTD is refused.*

mod element;
mod read;
mod write;

pub use element::Element;
pub use read::{InvalidXml, read};
pub use write::Writer;
