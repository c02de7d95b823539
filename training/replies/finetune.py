"""Fine-tunes all-MiniLM-L6-v2 to tell kinds and tones of turns apart, while it stays near the vectors that it gave before,
by which replies are found: README.md says how, and what came of it. Writes the encoder as the server reads it; heads.py
writes the two heads.

    node texts.mjs && python finetune.py --base all-MiniLM-L6-v2/ --out ../../replies/encoder.gguf
"""

import argparse
import copy
import json
import random
import re
import sys
import time
from pathlib import Path

import torch
from gguf import GGMLQuantizationType as Type
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
sys.path.insert(0, str(HERE.parent / "gate"))
from encoder import Encoder, fast_floats, padded, tokenizer  # noqa: E402
from export import write_encoder  # noqa: E402

SCALE = 12.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--near", type=float, default=4.0, help="what a vector's distance from the old one costs")
    parser.add_argument("--nears", type=int, default=22_000, help="turns that teach that distance")
    parser.add_argument("--held-back", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)

    texts = json.loads((CACHE / "texts.json").read_text())
    tones = [line.split("\t")[0] for line in table("tones/tones.tsv")]
    said = [line.split("\t") for name in ("said", "talk") for line in table(f"tones/{name}.tsv")]
    sorts = Sorts(texts["acts"], tones)
    rows = [(text, "act", n) for n, act in enumerate(texts["acts"]) for text in act["exemplars"]]
    rows += [(text, "tone", tones.index(tone)) for tone, text in said]
    rows += [(text, "near", 0) for text in rng.sample(texts["turns"], min(options.nears, len(texts["turns"])))]
    rng.shuffle(rows)
    held = int(len(rows) * options.held_back)
    held_back, learnt = rows[:held], rows[held:]

    encoder = Encoder(options.base, 6)
    old = copy.deepcopy(encoder).eval()
    heads = untaught_heads(encoder, len(texts["acts"]), len(tones))
    fit(encoder, old, heads, sorts, learnt, held_back, options, rng)
    torch.save({"encoder": encoder.state_dict(), "heads": heads.state_dict(), "tones": tones,
                "held_back": held_back}, CACHE / "finetuned.pt")
    write_encoder(encoder.eval(), options.base, options.out, name="antiphon replies", words=Type.Q4_0, matrices=Type.Q8_0)


class Sorts:
    """Which kinds a turn of each tone may be of, and which kinds are questions or requests."""

    def __init__(self, acts: list[dict], tones: list[str]):
        answered = [act["answered"] for act in acts]
        self.is_asked = torch.tensor([sort == "none" for sort in answered])
        told = torch.tensor([sort == "told" for sort in answered])
        form = torch.tensor([sort == "form" for sort in answered])
        of = {"asks": ~told, "ends": form, "reacts": ~self.is_asked}
        self.kinds = torch.stack([of.get(tone, told) for tone in tones])


def table(name: str) -> list[str]:
    """The rows of a table, its head apart."""
    return (HERE / name).read_text().strip().split("\n")[1:]


def untaught_heads(encoder: Encoder, acts: int, tones: int) -> nn.ModuleDict:
    width = encoder.config["hidden_size"]
    return nn.ModuleDict({"act": nn.Linear(width, acts), "tone": nn.Linear(width, tones)})


def load() -> dict:
    return torch.load(CACHE / "finetuned.pt", weights_only=True)


def heads_of(base: Path, learnt: dict, acts: int) -> tuple[Encoder, nn.ModuleDict]:
    """The encoder and the heads that were learnt."""
    encoder = Encoder(base, 6)
    encoder.load_state_dict(learnt["encoder"])
    heads = untaught_heads(encoder, acts, len(learnt["tones"]))
    heads.load_state_dict(learnt["heads"])
    return encoder.eval(), heads.eval()


def fit(encoder, old, heads, sorts, learnt, held_back, options, rng) -> None:
    tokens = tokenizer(options.base)
    counts = {kind: torch.zeros(head.out_features) for kind, head in heads.items()}
    for _, kind, label in learnt:
        if kind in counts:
            counts[kind][label] += 1
    # Rare classes weigh more, by the root of how much rarer they are.
    weights = {kind: (each.mean() / each.clamp(min=1)).sqrt().clamp(0.6, 1.8) for kind, each in counts.items()}
    body = [p for p in encoder.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": options.rate}, {"params": heads.parameters(), "lr": options.rate * 10}],
        weight_decay=0.01,
        fused=True,
    )
    steps = options.epochs * (len(learnt) // options.batch + 1)
    warm = steps // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: step / warm if step < warm else max(0.02, (steps - step) / (steps - warm))
    )
    before = {text: vector for text, vector in zip([t for t, *_ in learnt + held_back], vectors(old, tokens, [t for t, *_ in learnt + held_back]))}
    report(encoder, heads, tokens, held_back, before)
    began = time.monotonic()
    for epoch in range(options.epochs):
        encoder.train()
        heads.train()
        # What is only to stay near is read every other epoch.
        now = [row for row in learnt if row[1] != "near" or rng.random() < 0.5]
        said = joined(now, sorts, rng)
        ids = [encoding.ids for encoding in tokens.encode_batch(said)]
        order = sorted(range(len(now)), key=lambda i: len(ids[i]) + rng.random() * 4)
        batches = [order[i : i + options.batch] for i in range(0, len(order), options.batch)]
        rng.shuffle(batches)
        totals = {"act": [0.0, 0], "tone": [0.0, 0], "near": [0.0, 0]}
        for batch in batches:
            with fast_floats():
                vector = encoder(padded([ids[i] for i in batch]))
            loss = torch.zeros(())
            for kind in totals:
                # A text as it stands stays near, whatever else is learnt of it.
                is_kind = (lambda i: said[i] == now[i][0]) if kind == "near" else (lambda i: now[i][1] == kind)
                mine = [j for j, i in enumerate(batch) if is_kind(i)]
                if not mine:
                    continue
                if kind == "near":
                    target = torch.stack([before[now[batch[j]][0]] for j in mine])
                    each = 1 - (vector[mine] * target).sum(-1)
                    part = options.near * each.mean()
                else:
                    label = torch.tensor([now[batch[j]][2] for j in mine])
                    logits = heads[kind](vector[mine]) * SCALE
                    part = F.cross_entropy(logits, label, weights[kind], label_smoothing=0.05)
                    if kind == "tone":
                        # Of its kind only the sort is known.
                        odds = F.log_softmax(heads["act"](vector[mine]) * SCALE, -1)
                        part = part - odds.masked_fill(~sorts.kinds[label], -torch.inf).logsumexp(-1).mean()
                loss = loss + part * len(mine) / len(batch)
                totals[kind][0] += part.item() * len(mine)
                totals[kind][1] += len(mine)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(body, 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
        means = ", ".join(f"{kind} {total / max(1, n):.3f}" for kind, (total, n) in totals.items())
        print(f"epoch {epoch + 1}: {means}, {time.monotonic() - began:.0f} s", flush=True)
        report(encoder, heads, tokens, held_back, before)


def joined(rows: list, sorts: Sorts, rng: random.Random) -> list[str]:
    """The rows' texts, varied; a part of them as turns of several sentences: something told goes with more of its tone, and
    a question comes after something told."""
    told: dict[int, list[str]] = {}
    for text, kind, label in rows:
        if kind == "tone" and len(text) < SHORT:
            told.setdefault(label, []).append(text)
    any_told = [text for label, texts in told.items() for text in texts if not sorts.kinds[label, sorts.is_asked].any()]
    found = []
    for text, kind, label in rows:
        chance = rng.random()
        if kind == "tone" and chance < 0.3 and len(text) < SHORT and not sorts.kinds[label, sorts.is_asked].any():
            parts = [text, rng.choice(told[label])]
            rng.shuffle(parts)
            text = " ".join(map(ended, parts))
        elif kind == "act" and chance < 0.2 and sorts.is_asked[label]:
            text = f"{ended(rng.choice(any_told))} {text}"
        found.append(varied(text, rng) if kind != "near" or chance < 0.2 else text)
    return found


# Of what is told in one sentence, in characters.
SHORT = 110


def ended(text: str) -> str:
    return text if text[-1] in ".!?…" else f"{text}."


def varied(text: str, rng: random.Random) -> str:
    """As it is mostly; as speech is transcribed or in haste typed at times."""
    chance = rng.random()
    if chance < 0.15:
        return re.sub(r"[.!?…]+$", "", text)
    if chance < 0.25:
        return re.sub(r"[.!?…]+$", "", text).lower().replace("'", "")
    return text


@torch.no_grad()
def vectors(encoder: Encoder, tokens, texts: list[str]) -> list[Tensor]:
    encoder.eval()
    ids = [encoding.ids for encoding in tokens.encode_batch(texts)]
    found: list = [None] * len(texts)
    order = sorted(range(len(texts)), key=lambda i: len(ids[i]))
    for start in range(0, len(order), 128):
        rows = order[start : start + 128]
        with fast_floats():
            for i, vector in zip(rows, encoder(padded([ids[i] for i in rows]))):
                found[i] = vector
    return found


@torch.no_grad()
def report(encoder, heads, tokens, held_back, before) -> None:
    now = vectors(encoder, tokens, [text for text, *_ in held_back])
    for kind in ("act", "tone"):
        mine = [(vector, label) for vector, (_, k, label) in zip(now, held_back) if k == kind]
        guess = heads[kind](torch.stack([v for v, _ in mine])).argmax(-1)
        print(f"  {kind}: {sum(int(g) == label for g, (_, label) in zip(guess, mine)) / len(mine):.3f} of {len(mine)}")
    near = [float(v @ before[text]) for v, (text, k, _) in zip(now, held_back) if k == "near"]
    print(f"  near: {sum(near) / len(near):.3f}", flush=True)


if __name__ == "__main__":
    main()
