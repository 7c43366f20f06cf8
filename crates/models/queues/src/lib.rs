//! Queues and messages: what they are and how they change.
