#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mendit_fuzz::reply(bytes));
