//! Tests arbitrary bytes with `laws::line_decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::line_decode(bytes));
