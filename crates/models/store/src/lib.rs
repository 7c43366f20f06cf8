//! Transactions, group commit and snapshots over all models.
