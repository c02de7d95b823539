"""Makes golden.json: what Kokoro-82M gives for a sentence in float32, by onnxruntime in Python.

usage: python make_golden.py FOLDER   # FOLDER as `antiphon models pull kokoro` leaves it
needs onnx 1.20 or later, onnxruntime 1.20 or later and numpy

The published graph is quantised dynamically. Here each quantised product is replaced by one in float32 with the weights that
the 8-bit ones stand for, and nothing else is changed: no cut, no piece, no statistics from outside.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

# "Rice is often served in round bowls." as Antiphon reads it: phoneme ids with the silent id at both ends.
IDS = json.loads((Path(__file__).parent / "ids.json").read_text())
VOICE = "af_heart"
TENSORS = {
    "steps": "/encoder/predictor/ReduceSum_output_0",
    "pitch": "/encoder/Reshape_output_0",
    "energy": "/encoder/Reshape_1_output_0",
}


def in_float(model: onnx.ModelProto) -> onnx.ModelProto:
    graph = model.graph
    constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    maker = {name: node for node in graph.node for name in node.output if name}
    users: dict[str, list] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    added, replaced, gone = [], {}, set()

    def weights(name: str, zero: str, scale: str, axis: int) -> str:
        values = constants[name].astype(np.float32)
        shape = [1] * values.ndim
        if constants[scale].size > 1 or constants[zero].size > 1:
            shape[axis] = values.shape[axis]
        spread = lambda each: np.broadcast_to(constants[each].astype(np.float32).reshape(-1), (shape[axis],)).reshape(shape)
        own = f"{name}/float"
        added.append(numpy_helper.from_array((values - spread(zero)) * spread(scale), own))
        return own

    for node in graph.node:
        if node.op_type in ("MatMulInteger", "ConvInteger"):
            bias, name, follower = [], node.output[0], None
            while follower is None or follower.op_type != "Mul":
                (follower,) = users[name]
                gone.add(id(follower))
                (other,) = [each for each in follower.input if each != name] or [None]
                if follower.op_type == "Add":
                    while maker[other].op_type != "Div":
                        other = maker[other].input[0]
                    bias = [maker[other].input[0]]
                elif follower.op_type == "Mul":
                    (scale,) = [each for each in maker[other].input if each in constants]
                name = follower.output[0]
            is_convolution = node.op_type == "ConvInteger"
            weight = weights(node.input[1], node.input[3], scale, 0 if is_convolution else -1)
            x = maker[node.input[0]].input[0]
            new = helper.make_node("Conv" if is_convolution else "MatMul", [x, weight, *bias], [name])
            new.attribute.extend(node.attribute)
            replaced[id(node)] = new
        elif node.op_type == "DynamicQuantizeLSTM":
            names = []
            for at, scale, zero in ((1, 8, 9), (2, 10, 11)):
                own = weights(node.input[at], node.input[zero], node.input[scale], 0)
                turned = numpy_helper.to_array(added.pop()).transpose(0, 2, 1)
                added.append(numpy_helper.from_array(np.ascontiguousarray(turned), own))
                names.append(own)
            new = helper.make_node("LSTM", [node.input[0], *names, *node.input[3:7]], list(node.output))
            new.attribute.extend(each for each in node.attribute if each.name in ("direction", "hidden_size"))
            replaced[id(node)] = new
    nodes = [replaced.get(id(node), node) for node in graph.node if id(node) not in gone]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(added)
    for name in TENSORS.values():
        graph.output.append(helper.make_empty_tensor_value_info(name))
    return model


def main(folder: Path) -> None:
    model = in_float(onnx.load(str(folder / "model.onnx")))
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    tokens, audio = session.get_inputs()[0].name, session.get_outputs()[0].name
    rows = np.fromfile(folder / "voices" / f"{VOICE}.bin", "<f4").reshape(510, 256)
    fed = {
        tokens: np.array([IDS], np.int64),
        "style": rows[len(IDS) - 3][None],
        "speed": np.ones(1, np.float32),
    }
    samples, *tensors = session.run([audio, *TENSORS.values()], fed)
    samples = samples.ravel()
    from_s, to_s = 0.5, 1.0
    heard = samples[int(from_s * 24_000) : int(to_s * 24_000)]
    golden = {
        "made_by": f"onnxruntime {ort.__version__}, numpy {np.__version__}, onnx {onnx.__version__}",
        "ids": IDS,
        "voice": VOICE,
        "sample_count": int(samples.size),
        **{name: [round(float(each), 4) for each in values.ravel()] for name, values in zip(TENSORS, tensors)},
        "heard_from_s": from_s,
        "heard": [int(each) for each in np.round(heard * 32_767)],
    }
    (Path(__file__).parent / "golden.json").write_text(json.dumps(golden) + "\n")


main(Path(sys.argv[1]))
