//! Fuzzes `orrery_query::fuzz::query_parse`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_query::fuzz::query_parse(data));
