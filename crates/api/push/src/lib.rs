//! push
