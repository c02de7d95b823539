"""Thresholds from the lines that were held back, and what they do to those.

    python calibrate.py --base all-MiniLM-L6-v2/ --runs run-a/ run-b/      writes thresholds.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from encoder import Gate, averaged, padded, tokenizer
from lines import CLASSES, HERE, everything

# Missing these costs more than one careful reply too many; the last two are the other way round. In logits.
LEAN = {"self-harm": 0.7, "medical": 0.5, "minors": 0.5, "victim": 0.6, "abuse": -0.3, "injection": -0.3}
# Two turns as one are seen less sharply than one, and much talk has a second turn.
JOINED = 1.5
# What was said one or two turns before the newest: only what must not be passed over for a nod.
OLDER = {"self-harm": 0.9}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--runs", type=Path, nargs="+", required=True)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--alarms", type=float, default=0.04, help="share of look-alikes that may be caught")
    options = parser.parse_args()
    judged = [line for line in everything() if line.is_held_back]
    labels = np.array([line.label for line in judged])
    everyday = np.array([line.is_ordinary for line in judged])
    gate = averaged(options.base, options.layers, len(CLASSES), options.runs)
    found = scores(gate, options.base, [line.text for line in judged])
    severity, category = logit(1 - found[:, 0]), found[:, 1:].argmax(1) + 1
    lean = np.array([0.0] + [LEAN.get(name, 0.0) for name in CLASSES[1:]])
    leant = severity + lean[category]
    alike = (labels == 0) & ~everyday
    level = np.quantile(leant[alike], 1 - options.alarms)
    caught = leant >= level
    newest = {name: probability(level - lean[i]) for i, name in enumerate(CLASSES) if i > 0}
    joined = {name: probability(level - lean[i] + JOINED) for i, name in enumerate(CLASSES) if i > 0}
    older = {name: max(OLDER[name], newest[name]) if name in OLDER else 2 for name in CLASSES[1:]}
    thresholds = {"newest": newest, "joined": joined, "older": older}
    (HERE / "thresholds.json").write_text(json.dumps({"thresholds": thresholds}, indent=2) + "\n")

    harmful = labels > 0
    print(f"caught {caught[harmful].mean():.1%} of {harmful.sum()}")
    print(f"false alarms: {caught[alike].mean():.1%} of {alike.sum()} look-alikes, {caught[everyday].mean():.1%} of {everyday.sum()} everyday lines")
    print(f"{'':12}{'lines':>6}{'caught':>8}{'right':>7}   taken for")
    for i, name in enumerate(CLASSES[1:], 1):
        own = labels == i
        hit = own & caught
        others = {CLASSES[c]: int((category[hit] == c).sum()) for c in range(1, len(CLASSES)) if c != i}
        shown = ", ".join(f"{other} {n}" for other, n in others.items() if n)
        print(f"{name:12}{own.sum():6}{caught[own].mean():8.1%}{(category[hit] == i).mean():7.1%}   {shown}")


@torch.inference_mode()
def scores(gate: Gate, base: Path, texts: list[str]) -> np.ndarray:
    """Probabilities [lines, classes]."""
    ids = [encoding.ids for encoding in tokenizer(base).encode_batch(texts)]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found = np.zeros((len(ids), len(CLASSES)), np.float32)
    for i in range(0, len(order), 64):
        rows = order[i : i + 64]
        logits: Tensor = gate(padded([ids[row] for row in rows]))
        found[rows] = logits.softmax(-1).numpy()
    return found


def logit(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def probability(x: float) -> float:
    return round(float(1 / (1 + np.exp(-x))), 4)


if __name__ == "__main__":
    main()
