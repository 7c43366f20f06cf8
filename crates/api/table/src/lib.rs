//! The Azure Table protocol: bytes on the wire to typed operations and back.
