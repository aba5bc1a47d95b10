//! Tests arbitrary bytes with `laws::tail`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::tail(bytes));
