//! Tables and entities: what they are, how they change, and how filters find them.
