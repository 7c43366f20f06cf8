//! What every protocol shares: the listener, signatures, decoding, tracing.
