//! The tables of a process: typed asynchronous operations.
