"""Trains the writer's adapter: `python train.py --base MODEL.gguf --out adapter.gguf`. See README.md."""

import argparse
import json
import math
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from lessons import Lesson, lessons
from llama import Llama, read_adapter, tokenizer_of, write_adapter

START, END = 1, 2  # <|im_start|>, <|im_end|>
IGNORED = -100


def main() -> None:
    options = parsed()
    rank, world = joined()
    say = print if rank == 0 else lambda *_, **__: None
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    tokenizer = tokenizer_of(options.base)
    found = lessons([prompt for path in options.leave_out for prompt in prompts_of(path)], seed=1)
    encoded = lambda some: [row for lesson in some if (row := encode(lesson, tokenizer)) is not None]
    # The same are held back whatever the share; what is learnt often is held back once, and never learnt.
    held_back = {lesson.conversation: lesson for lesson in found[: len(found) // 40]}
    others = [lesson for lesson in found if lesson.conversation not in held_back]
    rows, held = encoded(others[: round(len(others) * options.share)]), encoded(held_back.values())
    say(f"{len(rows)} conversations, {sum(len(row.ids) for row in rows)} tokens; {len(held)} held back", flush=True)

    model = Llama(options.base, options.first, options.rank, options.alpha, options.dropout)
    if options.resume is not None:
        read_adapter(options.resume, model.blocks)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
    began = time.monotonic()
    rows, held = rows[rank::world], held[rank::world]
    prepare(model, rows + held, options.batch)
    say(f"prepared in {(time.monotonic() - began) / 60:.1f} min", flush=True)
    total = math.ceil(agreed_least(len(batched(rows, options.batch))) * options.epochs)
    step = 0
    curve = Curve(options.curve if rank == 0 else None)
    while step < total:
        batches = batched(rows, options.batch)
        for batch in batches[: min(agreed_least(len(batches)), total - step)]:
            for group in optimiser.param_groups:
                group["lr"] = options.rate * schedule(step / total)
            model.train()
            loss = loss_of(model, batch)
            loss.backward()
            share_gradients(parameters, world)
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step += 1
            curve.add(loss.item())
            if step % 100 == 0 or step == total:
                loss = evaluated(model, held, options.batch)
                minutes = (time.monotonic() - began) / 60
                say(f"step {step}/{total}: {curve.mean():.3f}, held back {loss:.4f}, {minutes:.1f} min", flush=True)
                curve.write(step, loss)
                if rank == 0:
                    write_adapter(options.out, model.blocks, options.rank, options.alpha)


def joined() -> tuple[int, int]:
    """This process among those that `torchrun` started, and how many they are."""
    if "WORLD_SIZE" not in os.environ:
        return 0, 1
    torch.distributed.init_process_group("gloo")
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def agreed_least(count: int) -> int:
    """The least of what every process has."""
    if not torch.distributed.is_initialized():
        return count
    shared = torch.tensor(count)
    torch.distributed.all_reduce(shared, torch.distributed.ReduceOp.MIN)
    return int(shared)


def share_gradients(parameters: list[Tensor], world: int) -> None:
    if world == 1:
        return
    flat = torch.cat([p.grad.flatten() for p in parameters])
    torch.distributed.all_reduce(flat)
    start = 0
    for p in parameters:
        p.grad.copy_(flat[start : start + p.numel()].view_as(p) / world)
        start += p.numel()


class Curve:
    """A loss curve: tab-separated steps, the mean loss since the row before, the loss on what was held back."""

    def __init__(self, path: Path | None):
        self.path = path
        self.losses: list[float] = []
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("step\tlearnt\theld back\n")

    def add(self, loss: float) -> None:
        self.losses.append(loss)

    def mean(self) -> float:
        return sum(self.losses) / len(self.losses)

    def write(self, step: int, held_back: float) -> None:
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(f"{step}\t{self.mean():.3f}\t{held_back:.4f}\n")
        self.losses.clear()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="SmolLM2-135M-Instruct.Q4_1.gguf")
    parser.add_argument("--out", type=Path, required=True, help="where the adapter goes")
    parser.add_argument(
        "--leave-out", type=Path, nargs="*", default=[], help="evaluation prompts (JSON lines) that may not be trained on"
    )
    parser.add_argument("--resume", type=Path, help="an earlier run's adapter to go on from")
    parser.add_argument("--share", type=float, default=1, help="of the conversations")
    parser.add_argument("--curve", type=Path, help="where the loss curve goes")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--first", type=int, default=10, help="the lowest block that is adapted")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--alpha", type=float, default=32)
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--rate", type=float, default=1e-3, help="the highest learning rate")
    parser.add_argument("--batch", type=int, default=1536, help="tokens a step and process, padding included")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


@dataclass
class Row:
    ids: list[int]
    targets: list[int]
    """For each token the one that follows it where we are the ones who speak; else IGNORED."""
    below: Tensor | None = None
    """(length, width): what the lowest adapted block receives."""


def encode(lesson: Lesson, tokenizer) -> Row | None:
    say = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    newline = say("\n")
    ids, ours = [], []
    # The server lets the other person begin, with this word where they did not.
    turns = [(role, text, learnt) for (role, text), learnt in zip(lesson.conversation.turns, lesson.learnt)]
    first = () if turns[0][0] == "user" else (("user", "Hello.", False),)
    for role, text, learnt in (*first, *turns):
        head = [START, *say(f"{role}\n")]
        body = [*say(text), END]
        ids += [*head, *body, *newline]
        ours += [False] * len(head) + [learnt] * len(body) + [False] * len(newline)
    if len(ids) > 512:
        return None
    targets = [ids[n + 1] if ours[n + 1] else IGNORED for n in range(len(ids) - 1)] + [IGNORED]
    return Row(ids, targets)


def prepare(model: Llama, rows: list[Row], size: int) -> None:
    for group in batched(rows, size):
        ids = pad_sequence([torch.tensor(row.ids) for row in group], batch_first=True)
        for row, x in zip(group, model.below(ids)):
            row.below = x[: len(row.ids)].clone()


def batched(rows: list[Row], size: int) -> list[list[Row]]:
    """Rows of like length together, at most `size` tokens with their padding, in random order."""
    groups, group = [], []
    for row in sorted(rows, key=lambda row: len(row.ids) + random.random() * 8):
        if group and max(len(row.ids), len(group[-1].ids)) * (len(group) + 1) > size:
            groups.append(group)
            group = []
        group.append(row)
    groups.append(group)
    random.shuffle(groups)
    return groups


def loss_of(model: Llama, group: list[Row]) -> Tensor:
    x = pad_sequence([row.below for row in group], batch_first=True)
    targets = pad_sequence([torch.tensor(row.targets) for row in group], batch_first=True, padding_value=IGNORED)
    # Few shapes: what is kept for each of them adds up.
    spare = -x.shape[1] % 16
    x, targets = F.pad(x, (0, 0, 0, spare)), F.pad(targets, (0, spare), value=IGNORED)
    asked = targets != IGNORED
    return F.cross_entropy(model.logits(model.above(x)[asked]).float(), targets[asked])


@torch.no_grad()
def evaluated(model: Llama, rows: list[Row], size: int) -> float:
    model.eval()
    groups = batched(rows, size)
    return sum(loss_of(model, group).item() for group in groups) / len(groups)


def schedule(done: float) -> float:
    """Up over the first 4 %, then down along a cosine to a twentieth."""
    if done < 0.04:
        return done / 0.04 + 0.01
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (done - 0.04) / 0.96))


def prompts_of(path: Path) -> list[str]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    turns = [turn if isinstance(turn, str) else turn["text"] for line in lines for turn in line["turns"]]
    return [text for text in turns if text]


if __name__ == "__main__":
    main()
