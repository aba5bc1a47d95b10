//! The exact files the local provider was built and tested with.
//!
//! The same pins stand in `scripts/fetch-model`, which installs them; a test in `fetch` compares
//! the two. What is not here: the graph and its pin (`minilm`).

/// One file, to the byte.
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
pub(crate) const CONFIG: Pin = Pin {
    name: "config.json",
    bytes: 612,
    sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
};
pub(crate) const SPECIAL_TOKENS_MAP: Pin = Pin {
    name: "special_tokens_map.json",
    bytes: 112,
    sha256: "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
};
pub(crate) const TOKENIZER_CONFIG: Pin = Pin {
    name: "tokenizer_config.json",
    bytes: 350,
    sha256: "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
};
/// Made from [`WEIGHTS`] by `int8`, not fetched.
#[cfg(feature = "dense")]
pub(crate) const INT8_WEIGHTS: Pin = Pin {
    name: "model.int8",
    bytes: 24_035_304,
    sha256: "127ff1119addb45d2275cb93abe653872057d384262be3fc4cc065ab39d1d06a",
};
/// Everything but the runtime.
pub(crate) const MODEL_FILES: [Pin; 5] =
    [WEIGHTS, TOKENIZER, CONFIG, SPECIAL_TOKENS_MAP, TOKENIZER_CONFIG];

/// ONNX Runtime 1.31.1 as its wheels carry it: (operating system, processor) in the words of
/// `std::env::consts`.
pub(crate) const RUNTIMES: [((&str, &str), Pin); 5] = [
    (
        ("linux", "x86_64"),
        Pin {
            name: "libonnxruntime.so.1.31.1",
            bytes: 29_352_200,
            sha256: "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3",
        },
    ),
    (
        ("linux", "aarch64"),
        Pin {
            name: "libonnxruntime.so.1.31.1",
            bytes: 25_265_040,
            sha256: "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467",
        },
    ),
    (
        ("macos", "aarch64"),
        Pin {
            name: "libonnxruntime.1.31.1.dylib",
            bytes: 33_037_336,
            sha256: "f8b06155feece624e55e49124340eea279da812529ae6fbc46a9f2be9c9cad2e",
        },
    ),
    (
        ("windows", "x86_64"),
        Pin {
            name: "onnxruntime.dll",
            bytes: 19_288_888,
            sha256: "8482d2ee174e28504f99730fb01d6861575870283de4ed3a897ad39170d9a9b9",
        },
    ),
    (
        ("windows", "aarch64"),
        Pin {
            name: "onnxruntime.dll",
            bytes: 19_171_640,
            sha256: "f4f7729bf4aa0c78b6ab5253747f3593bb9a28b4c4275a0a9f59f04ea580d61f",
        },
    ),
];

/// The runtime pinned for this machine, if any wheel exists for it.
pub(crate) fn runtime_pin() -> Option<Pin> {
    let here = (std::env::consts::OS, std::env::consts::ARCH);
    RUNTIMES.iter().find(|(machine, _)| *machine == here).map(|(_, pin)| *pin)
}
