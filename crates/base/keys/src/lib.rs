//! Order-preserving keys, and the hashing of partition keys.
