//! Fuzzes `orrery_tables::fuzz::filter_parse`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_tables::fuzz::filter_parse(data));
