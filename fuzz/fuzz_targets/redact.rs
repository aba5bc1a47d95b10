//! Tests arbitrary text with `laws::redact`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| laws::redact(text));
