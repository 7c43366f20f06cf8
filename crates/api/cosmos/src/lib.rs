//! The Cosmos DB REST protocol: bytes on the wire to typed operations and back.
