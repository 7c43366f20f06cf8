//! Fuzzes `orrery_keys::fuzz::key_reader`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_keys::fuzz::key_reader(data));
