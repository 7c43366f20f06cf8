//! Fuzzes `orrery_api_table::fuzz::entity`, which says what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orrery_api_table::fuzz::entity(data));
