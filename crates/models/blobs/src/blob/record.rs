//! How the states of blobs are stored (`docs/formats/blobs.md`).
