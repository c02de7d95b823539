"""Writes the goldens beside it with the Python package gguf and NumPy: `python make.py`. See README.md."""

import json
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import quants

HERE = Path(__file__).parent
dice = np.random.default_rng(19)


def hexed(values):
    return np.ascontiguousarray(values).tobytes().hex()


def blocks():
    floats = [
        dice.normal(0, 0.05, 64),
        dice.normal(0, 30, 32),
        np.zeros(32),
        # The scale is 1, and every other number lies half-way between two steps.
        np.concatenate([[127], np.arange(-15, 16) + 0.5]),
        np.concatenate([[-127], np.arange(-15, 16) * 1.5]),
        # Scales that 16 bits hardly hold, or not at all.
        dice.normal(0, 1e-6, 32),
        dice.normal(0, 1e-9, 32),
        dice.uniform(-6e4, 6e4, 32),
    ]
    floats = np.concatenate(floats).astype(np.float32).reshape(-1, 32)
    packed = np.concatenate([quants.quantize(floats, Type.Q4_1), dice.integers(0, 60, (4, 20)).astype(np.uint8)])
    halves = np.concatenate([np.arange(0, 0x7C00, 37), np.arange(0x8000, 0xFC00, 41)]).astype(np.uint16)
    between = np.concatenate([dice.normal(0, 10.0**power, 20) for power in range(-8, 5)]).astype(np.float32)
    return {
        "q8_0": {"floats": hexed(floats), "blocks": hexed(quants.quantize(floats, Type.Q8_0))},
        "q4_1": {"blocks": hexed(packed), "floats": hexed(quants.dequantize(packed, Type.Q4_1))},
        "f16": {
            "bits": hexed(halves),
            "floats": hexed(halves.view(np.float16).astype(np.float32)),
            "between": hexed(between),
            "nearest": hexed(between.astype(np.float16)),
        },
    }


def write(name, metadata, tensors):
    writer = gguf.GGUFWriter(HERE / name, "llama")
    metadata(writer)
    for tensor, values, type in tensors:
        writer.add_tensor(tensor, values, raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def model(file_type):
    def metadata(writer):
        writer.add_name("Tiny")
        writer.add_token_list(["a", "bc", "déf"])
        writer.add_file_type(file_type)
        writer.add_uint64("tiny.number", 2**40)
        writer.add_array("tiny.numbers", [1, 2, 3])
        writer.add_bool("tiny.flag", True)

    return metadata


def adapter(writer):
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 5.0)


def merging():
    """Of three 4-bit matrices two are adapted, one with a rank that is no multiple of four and 32-bit numbers."""
    shapes = {"one": (3, 64), "two": (5, 96), "three": (2, 32)}
    matrices = {name: quants.quantize(dice.normal(0, 0.1, shape).astype(np.float32), Type.Q4_1) for name, shape in shapes.items()}
    ranks = {"one": (4, np.float16), "two": (6, np.float32)}
    low = {
        name: (dice.normal(0, 0.2, (rank, shapes[name][1])).astype(type), dice.normal(0, 0.2, (shapes[name][0], rank)).astype(type))
        for name, (rank, type) in ranks.items()
    }
    merged = {}
    for name, packed in matrices.items():
        values = quants.dequantize(packed, Type.Q4_1).astype(np.float64)
        if name in low:
            a, b = (part.astype(np.float64) for part in low[name])
            values += 5.0 / len(a) * (b @ a)
        merged[name] = quants.quantize(values.astype(np.float32), Type.Q8_0)
    norm = dice.normal(1, 0.1, 7).astype(np.float32)
    table = quants.quantize(dice.normal(0, 1, (3, 32)).astype(np.float32), Type.Q8_0)
    halves = dice.normal(0, 1, (3, 5)).astype(np.float16)

    def tensors(matrices, type):
        yield "table.weight", table, Type.Q8_0
        yield "one.weight", matrices["one"], type
        yield "norm.weight", norm, None
        yield "two.weight", matrices["two"], type
        yield "three.weight", matrices["three"], type
        yield "halves.weight", halves, None

    write("base.gguf", model(gguf.LlamaFileType.MOSTLY_Q4_1), tensors(matrices, Type.Q4_1))
    write("merged.gguf", model(gguf.LlamaFileType.MOSTLY_Q8_0), tensors(merged, Type.Q8_0))
    parts = ((f"{name}.weight.lora_{part}", values, None) for name in low for part, values in zip("ab", low[name]))
    write("adapter.gguf", adapter, parts)


(HERE / "blocks.json").write_text(json.dumps(blocks(), indent=1) + "\n")
merging()
