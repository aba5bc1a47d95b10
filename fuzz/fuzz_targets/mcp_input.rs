//! Tests arbitrary bytes with `laws::mcp_input`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::mcp_input(bytes));
