//! The ordered transactional store: Db, the engine trait, the memory engine, the contract suite.
