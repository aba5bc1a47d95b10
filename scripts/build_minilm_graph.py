#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "onnx==1.23.2"]
# ///
"""Builds assets/minilm-graph.onnx and assets/minilm-int8-graph.onnx: all-MiniLM-L6-v2 as ONNX graphs without weights.

    python3 scripts/build_minilm_graph.py MODEL_DIR fp32 assets/minilm-graph.onnx
    python3 scripts/build_minilm_graph.py MODEL_DIR int8 assets/minilm-int8-graph.onnx

MODEL_DIR has `model.safetensors` and `config.json`, both from the wheel that scripts/fetch-model names. The script reads only the
header of the weights file. Every weight in the graph is an *external initializer*, which says "these bytes are at
offset N of model.safetensors". The program gives ONNX Runtime the graph and the unchanged weights file, so no model
is converted.

The int8 graph points into `model.int8` instead, which the program makes from the same weights file.
src/index/embed/model/int8.rs defines the rounding and the layout; `Int8Weights` below repeats the layout.

The graph contains the offsets, so it fits exactly one weights file. src/index/embed/model/pins.rs has the sha256 of
that file and of the graph. After rebuilding a graph, change both pins; the golden tests there check the result.

The graph does not include pooling and normalisation, which src/index/embed/loaded_model.rs does, and no input for token types: a single text
always has type 0, so the graph adds that row.

The network is BERT (Devlin et al. 2018): embeddings, then six layers of self-attention and a
two-layer perceptron, each followed by "add the input back, then layer-normalise".
The same inputs and the pinned packages give the same bytes.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WEIGHTS = "model.safetensors"
INT8_WEIGHTS = "model.int8"
# Opset 20 is the first with Gelu as one operator, and IR 9 belongs to it. ONNX Runtime reads both since 1.17.
OPSET, IR_VERSION = 20, 9
# The domain of the operators that ONNX Runtime adds to the standard. It includes blockwise int8 matrix products, on x86
# since 1.22 and on ARM since 1.23.
RUNTIME_DOMAIN = "com.microsoft"
# How many numbers share a scale in an int8 layer. For one query, 32 gave a cosine of .99966 to the float result in 2.67 ms,
# and 64 gave .99948 in 2.24 ms (benches/runs/2026-11-22-meaning.md).
BLOCK = 64
# Added to the attention scores of padding. It is the lowest float, so softmax gives padding exactly zero.
MASKED = np.finfo(np.float32).min


class Weights:
    """The position of each tensor in a safetensors file: u64 header length, JSON header, raw tensors."""

    def __init__(self, path):
        with open(path, "rb") as file:
            (header_bytes,) = struct.unpack("<Q", file.read(8))
            self.tensors = json.loads(file.read(header_bytes))
        self.data_start = 8 + header_bytes

    def initializer(self, name):
        """An ONNX tensor that points into the weights file instead of containing data."""
        entry = self.tensors[name]
        if entry["dtype"] != "F32":
            raise SystemExit(f"{name}: expected F32, found {entry['dtype']}")
        begin, end = entry["data_offsets"]
        return external(name, TensorProto.FLOAT, entry["shape"], (WEIGHTS, self.data_start + begin, end - begin))


class Int8Weights:
    """The position of each tensor in model.int8: first all floats, then all bytes, each part sorted by name.

    A rounded matrix [out, in] of a layer has a scale for every BLOCK numbers. The rounded word table has a scale per word.
    All other tensors are as published. The pooler is left out, because the graph does not use it.
    """

    def __init__(self, weights):
        tensors = {
            name: entry["shape"]
            for name, entry in sorted(weights.tensors.items())
            if name.startswith(("embeddings.", "encoder.")) and entry["dtype"] == "F32"
        }
        self.places, offset = {}, 0
        for name, shape in tensors.items():
            kept = (f"{name}.scales", self.scales(name, shape)) if self.is_rounded(name, shape) else (name, shape)
            offset = self.place(*kept, TensorProto.FLOAT, 4, offset)
        for name, shape in tensors.items():
            if self.is_rounded(name, shape):
                kept = (shape, TensorProto.INT8)
                if not name.startswith("embeddings."):
                    kept = ([shape[0], shape[1] // BLOCK, BLOCK], TensorProto.UINT8)
                offset = self.place(f"{name}.codes", *kept, 1, offset)

    @staticmethod
    def is_rounded(name, shape):
        return len(shape) == 2 and (name.startswith("encoder.") or name == "embeddings.word_embeddings.weight")

    @staticmethod
    def scales(name, shape):
        return shape[:1] if name.startswith("embeddings.") else [shape[0] * shape[1] // BLOCK]

    def shape(self, name):
        return self.places[name][1]

    def place(self, name, shape, data_type, width, offset):
        length = int(np.prod(shape)) * width
        self.places[name] = (data_type, shape, (INT8_WEIGHTS, offset, length))
        return offset + length

    def initializer(self, name):
        return external(name, *self.places[name])


def external(name, data_type, shape, place):
    """An ONNX tensor that refers to a place (file, offset, length) instead of containing data."""
    tensor = TensorProto(name=name, data_type=data_type, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in zip(("location", "offset", "length"), place, strict=True):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


class GraphBuilder:
    """Collects nodes and initializers. Every method returns the name of the value that it defines."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.initializers = {}

    def weight(self, name):
        if name not in self.initializers:
            self.initializers[name] = self.weights.initializer(name)
        return name

    def constant(self, name, value, dtype):
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.array(value, dtype), name)
        return name

    def node(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def words(self, output):
        return self.node("Gather", [self.weight("embeddings.word_embeddings.weight"), "input_ids"], output)

    def linear(self, value, weight, output):
        """value @ W.T + b, because torch stores W as [out, in]. ONNX Runtime folds the transpose when it loads the model."""
        turned = self.node("Transpose", [self.weight(f"{weight}.weight")], f"{output}.weight_t", perm=[1, 0])
        product = self.node("MatMul", [value, turned], f"{output}.product")
        return self.node("Add", [product, self.weight(f"{weight}.bias")], output)

    def layer_norm(self, value, weight, epsilon, output):
        inputs = [value, self.weight(f"{weight}.weight"), self.weight(f"{weight}.bias")]
        return self.node("LayerNormalization", inputs, output, axis=-1, epsilon=epsilon)

    def add_and_norm(self, residual, value, weight, epsilon, output):
        total = self.node("Add", [value, residual], f"{output}.sum")
        return self.layer_norm(total, weight, epsilon, output)


class Int8GraphBuilder(GraphBuilder):
    """Layers multiply int8 numbers. Inputs are rounded too, in blocks of BLOCK numbers of a token."""

    def __init__(self, weights):
        super().__init__(Int8Weights(weights))

    def words(self, output):
        table = "embeddings.word_embeddings.weight"
        codes = self.node("Gather", [self.weight(f"{table}.codes"), "input_ids"], f"{output}.codes")
        scales = self.node("Gather", [self.weight(f"{table}.scales"), "input_ids"], f"{output}.scales")
        last = self.constant("last", [-1], np.int64)
        spread = self.node("Unsqueeze", [scales, last], f"{output}.scales.spread")
        numbers = self.node("Cast", [codes], f"{output}.numbers", to=TensorProto.FLOAT)
        return self.node("Mul", [numbers, spread], output)

    def linear(self, value, weight, output):
        """The zero point is 128 by default. Accuracy level 4 multiplies bytes; other levels convert them to floats."""
        width, blocks, _ = self.weights.shape(f"{weight}.weight.codes")
        codes, scales, bias = (self.weight(f"{weight}.{part}") for part in ("weight.codes", "weight.scales", "bias"))
        inputs = [value, codes, scales, "", "", bias]
        sizes = {"N": width, "K": blocks * BLOCK, "bits": 8, "block_size": BLOCK}
        return self.node("MatMulNBits", inputs, output, domain=RUNTIME_DOMAIN, accuracy_level=4, **sizes)


def embeddings(graph, config):
    """Word + position + token type 0, then layer norm -> [batch, tokens, hidden]."""
    words = graph.words("embed.words")
    token_count = graph.node("Shape", ["input_ids"], "embed.token_count", start=1, end=2)
    first = graph.constant("first", [0], np.int64)
    table = graph.weight("embeddings.position_embeddings.weight")
    positions = graph.node("Slice", [table, first, token_count, first], "embed.positions")
    types = graph.weight("embeddings.token_type_embeddings.weight")
    type_zero = graph.node("Gather", [types, graph.constant("zero", 0, np.int64)], "embed.type")
    with_type = graph.node("Add", [words, type_zero], "embed.words_and_type")
    summed = graph.node("Add", [with_type, positions], "embed.sum")
    return graph.layer_norm(summed, "embeddings.LayerNorm", config["layer_norm_eps"], "embed")


def padding_bias(graph):
    """[batch, 1, 1, tokens]: 0 for real tokens, MASKED for padding."""
    axes = graph.constant("mask.axes", [1, 2], np.int64)
    spread = graph.node("Unsqueeze", ["attention_mask", axes], "mask.spread")
    real = graph.node("Cast", [spread], "mask.real", to=TensorProto.FLOAT)
    padded = graph.node("Sub", [graph.constant("one", 1, np.float32), real], "mask.padded")
    return graph.node("Mul", [padded, graph.constant("masked", MASKED, np.float32)], "mask")


def attention(graph, hidden, bias, layer, config):
    """Multi-head self-attention: softmax(Q K.T / sqrt(d) + bias) V per head, with the heads concatenated."""
    heads = config["num_attention_heads"]
    head_width = config["hidden_size"] // heads
    name = f"layer{layer}.attention"
    weights = f"encoder.layer.{layer}.attention"
    split = graph.constant("heads.split", [0, 0, heads, head_width], np.int64)

    def per_head(part, order):
        flat = graph.linear(hidden, f"{weights}.self.{part}", f"{name}.{part}")
        parted = graph.node("Reshape", [flat, split], f"{name}.{part}.parted")
        return graph.node("Transpose", [parted], f"{name}.{part}.heads", perm=order)

    query = per_head("query", [0, 2, 1, 3])
    key = per_head("key", [0, 2, 3, 1])
    value = per_head("value", [0, 2, 1, 3])
    raw = graph.node("MatMul", [query, key], f"{name}.raw")
    scale = graph.constant("heads.scale", np.sqrt(head_width), np.float32)
    scores = graph.node("Add", [graph.node("Div", [raw, scale], f"{name}.scaled"), bias], f"{name}.scores")
    shares = graph.node("Softmax", [scores], f"{name}.shares", axis=-1)
    mixed = graph.node("MatMul", [shares, value], f"{name}.mixed")
    turned = graph.node("Transpose", [mixed], f"{name}.turned", perm=[0, 2, 1, 3])
    joined = graph.constant("heads.join", [0, 0, config["hidden_size"]], np.int64)
    context = graph.node("Reshape", [turned, joined], f"{name}.context")
    projected = graph.linear(context, f"{weights}.output.dense", f"{name}.projected")
    return graph.add_and_norm(hidden, projected, f"{weights}.output.LayerNorm", config["layer_norm_eps"], name)


def perceptron(graph, hidden, layer, config, output):
    """Two linear layers with exact (erf) Gelu between them, then add and normalise."""
    name = f"layer{layer}.perceptron"
    weights = f"encoder.layer.{layer}"
    wide = graph.linear(hidden, f"{weights}.intermediate.dense", f"{name}.wide")
    active = graph.node("Gelu", [wide], f"{name}.active", approximate="none")
    narrow = graph.linear(active, f"{weights}.output.dense", f"{name}.narrow")
    return graph.add_and_norm(hidden, narrow, f"{weights}.output.LayerNorm", config["layer_norm_eps"], output)


def check_config(config):
    """Rejects a model with other settings than those that the graph supports."""
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for key, value in expected.items():
        if config[key] != value:
            raise SystemExit(f"config.json: {key} is {config[key]!r}, this script supports only {value!r}")


def build(model_dir, builder):
    config = json.loads((model_dir / "config.json").read_text(encoding="utf-8"))
    check_config(config)
    graph = builder(Weights(model_dir / WEIGHTS))
    hidden = embeddings(graph, config)
    bias = padding_bias(graph)
    layers = config["num_hidden_layers"]
    for layer in range(layers):
        attended = attention(graph, hidden, bias, layer, config)
        # src/index/embed/loaded_model.rs expects this name for the output.
        output = "last_hidden_state" if layer == layers - 1 else f"layer{layer}"
        hidden = perceptron(graph, attended, layer, config, output)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["batch", "tokens", config["hidden_size"]])]
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(graph.initializers.values()))
    domains = {node.domain for node in graph.nodes}
    opsets = [helper.make_opsetid("", OPSET)] + [helper.make_opsetid(name, 1) for name in domains if name]
    model = helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION)
    model.producer_name = "agent-knowledge scripts/build_minilm_graph.py"
    # Strict shape inference serves as the check, because onnx.checker needs the weights file in the working directory.
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    return model


def main(arguments):
    builders = {"fp32": GraphBuilder, "int8": Int8GraphBuilder}
    if len(arguments) != 3 or arguments[1] not in builders:
        raise SystemExit("usage: build_minilm_graph.py MODEL_DIR fp32|int8 OUTPUT.onnx")
    model_dir, output = Path(arguments[0]), Path(arguments[2])
    content = build(model_dir, builders[arguments[1]]).SerializeToString(deterministic=True)
    output.write_bytes(content)
    print(f"{output}: {len(content)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
