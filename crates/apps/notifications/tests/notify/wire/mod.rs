//! What only a store over the wire does: be busy, lose answers, say nothing, be killed and come back.

mod killed;
mod overtaken;
mod troubled;
mod way;
