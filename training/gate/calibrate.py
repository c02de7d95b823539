"""Thresholds from the lines that were held back, and what they do to those.

    python calibrate.py --run run/ --alarms 0.03      writes thresholds.json
"""

import argparse
import json
from pathlib import Path

import numpy as np

from lines import CLASSES

# Missing these costs more than one careful reply too many; the last two are the other way round. In logits.
LEAN = {"self-harm": 0.5, "medical": 0.5, "minors": 0.5, "victim": 0.5, "abuse": -0.3, "injection": -0.3}
# Two turns as one are seen less sharply than one, and much talk has a second turn.
JOINED = 1.0
# What was said one or two turns before the newest: only what must not be passed over for a nod.
OLDER = {"self-harm": 0.9}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--alarms", type=float, default=0.03, help="share of look-alikes that may be caught")
    options = parser.parse_args()
    judged = np.load(options.run / "held-back.npz")
    labels, ordinary, scores = (judged[k] for k in ("labels", "ordinary", "scores"))
    severity, category = logit(1 - scores[:, 0]), scores[:, 1:].argmax(1) + 1
    lean = np.array([0.0] + [LEAN.get(name, 0.0) for name in CLASSES[1:]])
    leant = severity + lean[category]
    alike = (labels == 0) & ~ordinary
    level = np.quantile(leant[alike], 1 - options.alarms)
    caught = leant >= level
    newest = {name: probability(level - lean[i]) for i, name in enumerate(CLASSES) if i > 0}
    joined = {name: probability(level - lean[i] + JOINED) for i, name in enumerate(CLASSES) if i > 0}
    older = {name: max(OLDER[name], newest[name]) if name in OLDER else 2 for name in CLASSES[1:]}
    thresholds = {"newest": newest, "joined": joined, "older": older}
    here = Path(__file__).parent / "thresholds.json"
    here.write_text(json.dumps({"thresholds": thresholds}, indent=2) + "\n")

    harmful = labels > 0
    print(f"caught {caught[harmful].mean():.1%} of {harmful.sum()}")
    print(f"false alarms: {caught[alike].mean():.1%} of {alike.sum()} look-alikes, {caught[ordinary].mean():.1%} of {ordinary.sum()} everyday lines")
    print(f"{'':12}{'lines':>6}{'caught':>8}{'right':>7}   taken for")
    for i, name in enumerate(CLASSES[1:], 1):
        own = labels == i
        hit = own & caught
        others = {CLASSES[c]: int((category[hit] == c).sum()) for c in range(1, len(CLASSES)) if c != i}
        shown = ", ".join(f"{other} {n}" for other, n in others.items() if n)
        print(f"{name:12}{own.sum():6}{caught[own].mean():8.1%}{(category[hit] == i).mean():7.1%}   {shown}")


def logit(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def probability(x: float) -> float:
    return round(float(1 / (1 + np.exp(-x))), 4)


if __name__ == "__main__":
    main()
