"""Writes both heads that finetune.py learnt, and from which probability a line of each kind may be said, by the exemplars
that were held back.

    python heads.py --base all-MiniLM-L6-v2/
"""

import argparse
import json
from pathlib import Path

import torch

from finetune import CACHE, SCALE, heads_of, load, tokenizer, vectors

# What a line is worth that was meant for another kind: a consolation for one sorrow mostly does for another.
WORTH = {"bad": 0.85, "good": 0.85, "plain": 0.5}
LEAST_PRECISION = 0.9
# Exemplars are shorter and plainer than talk, so that less than this is too little there.
LEAST = {"form": 0.45, "line": 0.6, "told": 0.6}
MOST = {"form": 0.8, "line": 0.85, "told": 0.85}
# Held-back exemplars of a kind are few: so many more are taken to be as all kinds' of its sort are.
SHRINKAGE = 6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", type=Path, required=True)
    options = parser.parse_args()
    learnt = load()
    acts = json.loads((CACHE / "texts.json").read_text())["acts"]
    encoder, heads = heads_of(options.base, learnt, len(acts))
    rows = [(text, label) for text, kind, label in learnt["held_back"] if kind == "act"]
    with torch.no_grad():
        found = torch.stack(vectors(encoder, tokenizer(options.base), [text for text, _ in rows]))
        sure, guess = (heads["act"](found) * SCALE).softmax(-1).max(-1)
    truth = torch.tensor([label for _, label in rows])
    print(f"{(guess == truth).float().mean():.3f} of {len(rows)} right")
    worth = torch.tensor([worth_of(acts[a], acts[b]) for a, b in zip(truth.tolist(), guess.tolist())])
    sort = [act["answered"] for act in acts]
    least = [least_of(n, sort, sure, guess, worth) for n in range(len(acts))]
    for n, act in enumerate(acts):
        taken = (guess == n) & (sure >= least[n])
        print(f"  {act['name']}: from {least[n]}, {int(taken.sum())} of {int((truth == n).sum())}")
    for answered in LEAST:
        taken = torch.tensor([sort[g] == answered and s >= least[g] for g, s in zip(guess.tolist(), sure.tolist())])
        print(f"{answered}: {int(taken.sum())} said, worth {worth[taken].mean():.3f}")
    write(heads, acts, least, learnt["tones"])


def worth_of(meant: dict, said: dict) -> float:
    if meant["name"] == said["name"]:
        return 1.0
    if meant["answered"] != said["answered"] or meant["polarity"] != said["polarity"]:
        return 0.0
    return WORTH[meant["polarity"]] if meant["answered"] == "told" else 0.2


def least_of(n: int, sort: list[str], sure, guess, worth) -> float:
    """The lowest probability of a grid from which the kind's lines are worth LEAST_PRECISION on the mean."""
    kind = sort[n]
    alike = torch.tensor([sort[g] == kind for g in guess.tolist()])
    for bound in torch.arange(LEAST.get(kind, 1), 1, 0.02).tolist():
        like = worth[alike & (sure >= bound)]
        own = worth[(guess == n) & (sure >= bound)]
        if len(like) > 0 and (own.sum() + SHRINKAGE * like.mean()) / (len(own) + SHRINKAGE) >= LEAST_PRECISION:
            return round(min(MOST.get(kind, 1), bound), 3)
    return MOST.get(kind, 1)


def write(heads, acts: list[dict], least: list[float], tones: list[str]) -> None:
    rows = lambda head: {
        "weights": [[round(x * SCALE, 4) for x in row] for row in head.weight.tolist()],
        "biases": [round(x * SCALE, 4) for x in head.bias.tolist()],
    }
    (CACHE / "heads.json").write_text(json.dumps({
        "acts": {"names": [act["name"] for act in acts], "least": least, **rows(heads["act"])},
        "tones": {"names": tones, **rows(heads["tone"])},
    }))


if __name__ == "__main__":
    main()
