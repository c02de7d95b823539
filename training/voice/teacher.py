"""Lets Kokoro-82M say sentences: its sound, durations, pitch and energy, for each voice in .cache/teacher/VOICE/N.npz (or short/, harvard/).

    python teacher.py --voices am_michael,bf_emma --minutes 20
    python teacher.py --voices am_michael,bf_emma --texts short --sentences 64
    python teacher.py --voices am_michael,bf_emma --texts harvard --sentences 36

Whole sentences, float32, one thread. Goes on where it was stopped; the sentences come in the order of .cache/texts.json
(texts.py), voice by voice in turns, so that any prefix of the data is balanced. The graph has no random operator: the
same sentence is the same sound again.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

CACHE = Path(__file__).parent / ".cache"
RATE = 24_000
STEP_SAMPLES = 600
FOLDERS = {
    **{"texts": "teacher", "short": "short", "harvard": "harvard"},
    **{"spanish": "teacher", "spanish-short": "short", "spanish-held-out": "spanish-held-out"},
}
"""Of what is said of each of the texts."""
# Tensors of the published graph: durations in steps of 25 ms; pitch and energy, a value for each 12.5 ms.
PLAN = {
    "/encoder/Cast_output_0": ("durations", TensorProto.INT64),
    "/encoder/Reshape_output_0": ("f0", TensorProto.FLOAT),
    "/encoder/Reshape_1_output_0": ("energy", TensorProto.FLOAT),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--voices", default="am_michael,bf_emma")
    parser.add_argument("--minutes", type=float, default=20, help="of sound for each voice")
    parser.add_argument("--sentences", type=int, help="as many of them, in place of minutes")
    parser.add_argument("--texts", default="texts", choices=tuple(FOLDERS), help="which of texts.py; harvard and spanish-held-out are for judge.mjs")
    options = parser.parse_args()
    session = open_teacher()
    voices = {name: Voice(name) for name in options.voices.split(",")}
    sentences = json.loads((CACHE / f"{options.texts}.json").read_text())
    folder = FOLDERS[options.texts]
    seconds = dict.fromkeys(voices, 0.0)
    for index, sentence in enumerate(sentences):
        if index == options.sentences or (options.sentences is None and min(seconds.values()) >= 60 * options.minutes):
            break
        for name, voice in voices.items():
            path = CACHE / folder / name / f"{index}.npz"
            said = np.load(path) if path.exists() else None
            # Texts may have been made anew: what was said of others is said again.
            if said is None or said["ids"].tolist() != sentence["ids"]:
                said = voice.say(session, sentence["ids"])
                path.parent.mkdir(parents=True, exist_ok=True)
                partial = path.with_suffix(".partial.npz")
                np.savez(partial, **said)
                partial.rename(path)
            seconds[name] += len(said["samples"]) / RATE
        if index % 50 == 0:
            print(index, {name: round(of / 60, 2) for name, of in seconds.items()}, "minutes", flush=True)


class Voice:
    def __init__(self, name: str) -> None:
        packed = np.fromfile(CACHE / "kokoro" / "voices" / f"{name}.bin", np.float32)
        self.styles = packed.reshape(510, 1, 256)

    def say(self, session: onnxruntime.InferenceSession, ids: list[int]) -> dict[str, np.ndarray]:
        """@param ids: with the pads at both ends, as our own network takes them."""
        inputs = {
            "tokens": np.array([ids], np.int64),
            "style": self.styles[len(ids) - 3],  # row n - 1 for n tokens between the pads
            "speed": np.ones(1, np.float32),
        }
        samples, durations, f0, energy = session.run(["audio", "durations", "f0", "energy"], inputs)
        samples, durations = samples.ravel(), durations.ravel()
        assert len(samples) == STEP_SAMPLES * durations.sum() and f0.size == 2 * durations.sum()
        return {
            "ids": np.array(ids, np.int16),
            "samples": np.round(np.clip(samples, -1, 1) * 32767).astype(np.int16),
            "durations": durations.astype(np.int16),
            "f0": f0.ravel(),
            "energy": energy.ravel(),
        }


def open_teacher() -> onnxruntime.InferenceSession:
    path = CACHE / "kokoro" / "float.onnx"
    if not path.exists():
        model = without_quantisation(onnx.load(path.with_name("model.onnx")))
        for tensor, (name, kind) in PLAN.items():
            model.graph.node.append(helper.make_node("Identity", [tensor], [name]))
            model.graph.output.append(helper.make_tensor_value_info(name, kind, None))
        onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options)


def without_quantisation(model: onnx.ModelProto) -> onnx.ModelProto:
    """
    The graph over the same weights with activations in float32: each is "quantised" with a scale of 1 and no rounding, so
    that the arithmetic around the products stays as it is.
    """
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    value = lambda name: numpy_helper.to_array(weights[name]).astype(np.float32)
    added, nodes = {}, []

    def put(name: str, array: np.ndarray) -> str:
        added[name] = numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name)
        return name

    def keep(node: onnx.NodeProto, kind: str, inputs: list[str], attributes: tuple[str, ...] | None = None) -> None:
        new = helper.make_node(kind, inputs, list(node.output), name=node.name)
        new.attribute.extend(a for a in node.attribute if attributes is None or a.name in attributes)
        nodes.append(new)

    one = put("one", np.array(1))
    floored = {node.output[0] for node in graph.node if node.op_type == "Floor" and node.output[0].endswith("_quant_rounded:0")}
    for node in graph.node:
        kind, at = node.op_type, list(node.input)
        if kind == "DynamicQuantizeLinear":
            x, scale, _ = node.output
            nodes.append(helper.make_node("Identity", [at[0]], [x]))
            nodes.append(helper.make_node("Identity", [one], [scale]))
        elif kind in ("MatMulInteger", "ConvInteger"):
            weight, zero = value(at[1]), value(at[3])
            if kind == "ConvInteger" and zero.size > 1:
                zero = zero.reshape([-1] + [1] * (weight.ndim - 1))
            keep(node, kind.removesuffix("Integer"), [at[0], put(at[1] + "_float", weight - zero)])
        elif kind == "DynamicQuantizeLSTM":
            # Stored [directions, inputs, 4 hidden]; LSTM wants the last two the other way round.
            matrix = lambda n, s: ((value(at[n]) - value(at[s + 1]).reshape(-1, 1, 1)) * value(at[s]).reshape(-1, 1, 1)).transpose(0, 2, 1)
            w, r = put(node.name + "_w", matrix(1, 8)), put(node.name + "_r", matrix(2, 10))
            keep(node, "LSTM", [at[0], w, r, *at[3:8]], ("direction", "hidden_size", "activations"))
        elif node.output[0] in floored or (kind == "Cast" and at[0] in floored):
            keep(node, "Identity", at, ())
        else:
            nodes.append(node)
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in [*graph.initializer, *added.values()] if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return model


if __name__ == "__main__":
    main()
