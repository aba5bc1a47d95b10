//! The exact files the local provider was built and tested with.
//!
//! The same pins are in `scripts/fetch-model`, which installs them; a test in `fetch` compares
//! the two. What is not here: the graph and its pin (`minilm`).

/// The pin of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pin {
    /// Name inside the model directory.
    pub(crate) name: &'static str,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// SHA-256, lower-case hex.
    pub(crate) sha256: &'static str,
}

pub(crate) const WEIGHTS: Pin = Pin {
    name: "model.safetensors",
    bytes: 90_868_376,
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};
pub(crate) const TOKENIZER: Pin = Pin {
    name: "tokenizer.json",
    bytes: 466_247,
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};
/// Made from [`WEIGHTS`] by `int8`, not fetched.
#[cfg(not(target_env = "musl"))]
pub(crate) const INT8_WEIGHTS: Pin = Pin {
    name: "model.int8",
    bytes: 24_035_304,
    sha256: "127ff1119addb45d2275cb93abe653872057d384262be3fc4cc065ab39d1d06a",
};
/// Everything but the runtime.
pub(crate) const MODEL_FILES: [Pin; 2] = [WEIGHTS, TOKENIZER];

/// ONNX Runtime 1.28.0 as its wheels carry it: (operating system, processor) in the words of `std::env::consts`. The
/// last that holds no code to report how it is used.
pub(crate) const RUNTIMES: [((&str, &str), Pin); 5] = [
    (
        ("linux", "x86_64"),
        Pin {
            name: "libonnxruntime.so.1.28.0",
            bytes: 24_272_944,
            sha256: "aa4079d18f4ea7a5f3a94d80cd4bbe0f2740436626622d64d793803a20381083",
        },
    ),
    (
        ("linux", "aarch64"),
        Pin {
            name: "libonnxruntime.so.1.28.0",
            bytes: 20_657_248,
            sha256: "23a37c2994bc273e1d59a4f49af6cba5bf1cfbc29f04907ec27df375aba50a7d",
        },
    ),
    (
        ("macos", "aarch64"),
        Pin {
            name: "libonnxruntime.1.28.0.dylib",
            bytes: 30_509_592,
            sha256: "99909e99214e31fe2296c9f7fae5abc2eaf0145342efe8b0a6ed82e9ddb0a0a0",
        },
    ),
    (
        ("windows", "x86_64"),
        Pin {
            name: "onnxruntime.dll",
            bytes: 17_766_712,
            sha256: "14e186627f109a15f28f0b36f6e8ea07c79eac666818e63c39a9792f415bf649",
        },
    ),
    (
        ("windows", "aarch64"),
        Pin {
            name: "onnxruntime.dll",
            bytes: 17_510_712,
            sha256: "a3c722907fb82ae7aa999d90bc81b8dc6358f1260125078485b392d53eea716c",
        },
    ),
];

/// The runtime pinned for this machine, if any wheel exists for it.
pub(crate) fn runtime_pin() -> Option<Pin> {
    let this_machine = (std::env::consts::OS, std::env::consts::ARCH);
    RUNTIMES.iter().find(|(machine, _)| *machine == this_machine).map(|(_, pin)| *pin)
}
