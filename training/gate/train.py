"""Fine-tunes the gate's sentence encoder and its linear head: README.md says how, and what came of it.

    python train.py --base all-MiniLM-L6-v2/ --out run/

It learns from nine tenths of the lines; the last tenth is kept for calibrate.py.
"""

import argparse
import json
import random
import time
from pathlib import Path

import gguf
import numpy as np
import torch
from torch.nn import functional as F

from augment import augmented
from encoder import Gate, fast_floats, padded, tokenizer
from export import theirs
from lines import CLASSES, HERE, Line, everything, normal, ordinary, texts

DOUBTFUL = 0.1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--start", type=Path, help="go on from the gate in this folder instead of the untouched encoder")
    parser.add_argument("--newest", nargs="*", default=[], help="files of which every line is learnt")
    parser.add_argument("--sure", type=float, default=0.9, help="every line is learnt that --start is less sure of")
    parser.add_argument("--share", type=float, default=1.0, help="of all other lines")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    lines = everything()
    new = {normal(line.text) for line in ordinary(HERE / "talks", 1)}
    new |= {normal(text) for name in options.newest for text in texts(HERE / "data" / name)}
    gate = Gate(options.base, options.layers, len(CLASSES))
    lines = [line for line in lines if not line.is_held_back]
    if options.start is not None:
        gate.load_state_dict(shipped(gate, options.start))
        sure = sureness(gate, lines, options)
        # Everyday talk that it takes for a danger is for a person to look at: it may belong into left-out.txt.
        for line in sorted(line.text for line, p in zip(lines, sure) if line.is_ordinary and p < DOUBTFUL):
            print(f"learnt as harmless: {line}")
        new |= {normal(line.text) for line, p in zip(lines, sure) if p < options.sure}
    chosen = random.Random(options.seed)
    learnt = [line for line in lines if normal(line.text) in new or chosen.random() < options.share]
    counts = np.bincount([line.label for line in learnt], minlength=len(CLASSES))
    print(dict(zip(CLASSES, counts.tolist())), f"of {len(lines)}", flush=True)
    fit(gate, learnt, options)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(gate.state_dict(), options.out / "gate.pt")


def shipped(gate: Gate, folder: Path) -> dict[str, torch.Tensor]:
    """The weights that export.py wrote, with their rounding."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(folder / "gate.gguf").tensors}
    head = json.loads((folder / "gate.json").read_text())
    found = dict(gate.state_dict())
    for name, value in gate.encoder.state_dict().items():
        tensor = tensors[theirs(name)]
        values = torch.tensor(gguf.dequantize(tensor.data, tensor.tensor_type)).reshape(-1, *value.shape[1:])
        # Positions beyond the last one that is used are not written.
        found[f"encoder.{name}"] = torch.cat([values, value[len(values) :]])
    found["head.weight"] = torch.tensor(head["weights"]) / gate.scale
    found["head.bias"] = torch.tensor(head["biases"]) / gate.scale
    return found


@torch.no_grad()
def sureness(gate: Gate, lines: list[Line], options: argparse.Namespace) -> list[float]:
    """How sure the gate is of each line's class, 0 to 1."""
    gate.eval()
    tokens = tokenizer(options.base)
    found = [0.0] * len(lines)
    order = sorted(range(len(lines)), key=lambda i: len(lines[i].text))
    for start in range(0, len(order), 128):
        rows = order[start : start + 128]
        with fast_floats():
            logits = gate(padded([encoding.ids for encoding in tokens.encode_batch([lines[i].text for i in rows])]))
        right = F.softmax(logits.float(), -1)[range(len(rows)), [lines[i].label for i in rows]]
        for i, p in zip(rows, right.tolist()):
            found[i] = p
    return found


def fit(gate: Gate, lines: list[Line], options: argparse.Namespace) -> None:
    rng = random.Random(options.seed)
    tokens = tokenizer(options.base)
    everyday = [line for line in lines if line.is_ordinary]
    taught = [line for line in lines if not line.is_ordinary]
    # Small talk around a line: half of it everyday, half look-alikes.
    benign = [line.text for line in taught if line.label == 0]
    benign = rng.sample(benign, len(benign)) + rng.choices([line.text for line in everyday], k=len(benign))
    counts = np.bincount([line.label for line in taught], minlength=len(CLASSES))
    # Rare classes weigh more, by the root of how much rarer they are.
    weights = torch.tensor((counts[1:].mean() / counts) ** 0.5, dtype=torch.float32).clamp(0.8, 1.6)
    steps = options.epochs * (len(lines) // options.batch + 1)
    body = [p for name, p in gate.named_parameters() if p.requires_grad and not name.startswith("head")]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": options.rate}, {"params": gate.head.parameters(), "lr": options.rate * 10}],
        weight_decay=0.01,
        fused=True,
    )
    warm = steps // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: step / warm if step < warm else max(0.02, (steps - step) / (steps - warm))
    )
    gate.train()
    began = time.monotonic()
    for epoch in range(options.epochs):
        said = [(augmented(line.text, rng, benign), line.label) for line in lines]
        ids = [(encoding.ids, label) for encoding, (_, label) in zip(tokens.encode_batch([t for t, _ in said]), said)]
        total, batches = 0.0, list(by_length(ids, options.batch, rng))
        for batch in batches:
            labels = torch.tensor([label for _, label in batch])
            with fast_floats():
                logits = gate(padded([i for i, _ in batch]))
            loss = F.cross_entropy(logits.float(), labels, weights, label_smoothing=0.03)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(body, 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(batches):.4f}, {time.monotonic() - began:.0f} s", flush=True)


def by_length(ids: list[tuple[list[int], int]], size: int, rng: random.Random):
    """Batches of lines of about the same length, in any order."""
    ids = sorted(ids, key=lambda line: len(line[0]) + rng.random() * 4)
    batches = [ids[i : i + size] for i in range(0, len(ids), size)]
    rng.shuffle(batches)
    return batches


if __name__ == "__main__":
    main()
