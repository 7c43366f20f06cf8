//! Fuzzes `orrery_value::fuzz::binary_to_text`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_value::fuzz::binary_to_text(data));
