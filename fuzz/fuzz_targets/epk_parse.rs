//! Fuzzes `orrery_keys::fuzz::epk_parse`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_keys::fuzz::epk_parse(data));
