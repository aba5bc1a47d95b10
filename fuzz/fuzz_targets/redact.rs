//! Any text, held to `laws::redact`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| laws::redact(text));
