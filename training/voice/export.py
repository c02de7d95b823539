"""Writes what a run has learnt as an adapter of the shipped graphs: voices/heart/cast/LABEL.onnx, constants without a graph.

    python export.py --run bf_emma --label 5

For each constant of the graphs that differs: NAME is added to it; or NAME:u and NAME:v, int8 [rows, rank] and
[rank, columns], with NAME:scale [rank], whose product u · diag(scale) · v is added instead. Embeddings learnt whole are more of
its rank.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

from network import SPLIT, graph_names

CACHE = Path(__file__).parent / ".cache"
CAST = Path(__file__).parents[2] / "voices" / "heart" / "cast"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", required=True, help="of train.py")
    parser.add_argument("--label", type=int, required=True, help="of the voice")
    options = parser.parse_args()
    stored = torch.load(CACHE / "runs" / options.run / "adapter.pt")
    state = {name: value.numpy() for name, value in stored["state"].items()}
    named = {name: (constant, transposed) for part in ("text", "prosody", "decoder") for name, constant, transposed in graph_names(onnx.load(SPLIT / f"{part}.onnx").graph)}
    tensors = []
    for key in state:
        kind, path = key.split(".", 1)
        constant, transposed = named[path.replace("/", ".")]
        if kind == "full":
            value = state[key].astype(np.float32)
            tensors.append(numpy_helper.from_array(np.ascontiguousarray(value.T if transposed else value), constant))
        elif kind == "u":
            u, v = state[key], state[f"v.{path}"]
            if f"rows.{path}" in state:
                # Whole rows: a column of u that is 1 at the symbol, and the row itself.
                u = np.concatenate([u, np.eye(len(u), dtype=u.dtype)[:, stored["symbols"]]], 1)
                v = np.concatenate([v, state[f"rows.{path}"]])
            if transposed:
                u, v = v.T, u.T
            of_u, of_v = np.abs(u).max(0) / 127 + 1e-12, np.abs(v).max(1) / 127 + 1e-12
            tensors += [
                numpy_helper.from_array(np.ascontiguousarray(np.rint(u / of_u).astype(np.int8)), f"{constant}:u"),
                numpy_helper.from_array(np.ascontiguousarray(np.rint(v / of_v[:, None]).astype(np.int8)), f"{constant}:v"),
                numpy_helper.from_array((of_u * of_v).astype(np.float32), f"{constant}:scale"),
            ]
    CAST.mkdir(exist_ok=True)
    path = CAST / f"{options.label}.onnx"
    model = helper.make_model(helper.make_graph([], "adapter", [], [], tensors))
    path.write_bytes(model.SerializeToString())
    files = sorted(CAST.glob("*.onnx"), key=lambda each: int(each.stem))
    sums = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files]
    (CAST / "SHA256SUMS").write_text("".join(sums))
    print(f"{path.name}: {path.stat().st_size} bytes, {len(tensors)} tensors")


if __name__ == "__main__":
    main()
