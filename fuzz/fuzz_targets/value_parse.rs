//! Fuzzes `orrery_value::fuzz::value_parse`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_value::fuzz::value_parse(data));
