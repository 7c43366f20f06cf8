//! Databases, containers and items: what they are and what may be done to them.
