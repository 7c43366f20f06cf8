//! The queues of a process: typed asynchronous operations.
