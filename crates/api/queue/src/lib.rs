//! The Azure Queue protocol: bytes on the wire to typed operations and back.
