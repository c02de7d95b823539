"""Compares the networks in PyTorch with the shipped graphs over 50 sentences: the largest differences.

    python check_network.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from network import SPLIT, shipped

CACHE = Path(__file__).parent / ".cache"
SENTENCES = 50
TOLERANCE = 1e-4
"""Of each tensor's largest value: pitch is in hertz, and goes to 300."""


@torch.no_grad()
def main() -> None:
    torch.set_num_threads(1)
    voice = shipped()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    text, prosody, decoder = (
        onnxruntime.InferenceSession(SPLIT / f"{name}.onnx", options) for name in ("text", "prosody", "decoder")
    )
    worst: dict[str, tuple[float, float]] = {}

    def compare(name: str, ours: torch.Tensor, theirs: np.ndarray) -> None:
        apart, size = np.abs(ours.numpy() - theirs).max(), np.abs(theirs).max()
        worst[name] = max(worst.get(name, (0.0, 0.0)), (float(apart / size), float(apart)))

    for sentence in json.loads((CACHE / "texts.json").read_text())[:SENTENCES]:
        ids = torch.tensor(sentence["ids"])
        durations, enc_p, enc_d = text.run(["dur", "enc_p", "enc_d"], {"ids": ids[None].numpy()})
        encoded = voice.pn.text(ids[None])
        compare("enc_p", encoded, enc_p)
        compare("enc_d", voice.m.text(ids[None]), enc_d)
        compare("dur", voice.pn.log_durations(encoded)[0].exp() - 1, durations)
        steps = np.maximum(1, np.rint(durations)).astype(int)
        xp, xd = enc_p.repeat(steps, 2), enc_d.repeat(2 * steps, 2)
        f0, energy = prosody.run(["f0", "energy"], {"xp": xp})
        pitch, level = voice.pn.intone(torch.from_numpy(xp))
        compare("f0", pitch, f0)
        compare("energy", level, energy)
        ends = {"from": np.array([0]), "to": np.array([f0.shape[1]])}
        (spec,) = decoder.run(["spec"], {"xd": xd, "f0": f0, "energy": energy, **ends})
        compare("spec", voice.m.describe(*map(torch.from_numpy, (xd, f0, energy))), spec)

    print("tensor      apart   of its largest value")
    for name, (share, apart) in worst.items():
        print(f"{name:8} {apart:8.1e}   {share:8.1e}")
    if max(share for share, _ in worst.values()) > TOLERANCE:
        sys.exit(f"more than {TOLERANCE} apart")


if __name__ == "__main__":
    main()
