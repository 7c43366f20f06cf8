//! Fuzzes `orrery_protocol::storage::fuzz::sas`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_protocol::storage::fuzz::sas(data));
