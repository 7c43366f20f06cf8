//! Fuzzes `orrery_value::fuzz::scan_object`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_value::fuzz::scan_object(data));
