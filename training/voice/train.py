"""Teaches an adapter of the embedded voice from what Kokoro said in one of its voices: .cache/runs/NAME/adapter.pt.

    python train.py --voice am_michael --minutes 15
    python train.py --voice ef_dora --minutes 15 --language es
    python train.py --voice am_michael --minutes 12 --from-run am_michael --name am_michael-2 --critics

Losses: durations, pitch and energy against the teacher's; spectra, at several resolutions, of what the waveform kernel
renders with the teacher's durations, pitch and energy; and what critics make of it (critics.py).
"""

import argparse
import json
import math
import random
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from adapters import Adapter
from critics import Critics
from network import BINS, VOCABULARY, Voice, shipped
from waveform import HOP, RATE, pulses, render, windows

CACHE = Path(__file__).parent / ".cache"
SILENT_CONTEXT_FRAMES = 10
"""Of the silence around a sentence, the product decodes so many frames."""
RESOLUTIONS = (2048, 1024, 512, 256)
HELD_OUT = 12
SPANISH = {"a": "ɑ", "e": "ɛA", "o": "ɔO", "r": "ɹ", "ɾ": "T", "x": "h", "ɲ": "nj", "β": "bv", "ɣ": "ɡ", "ʎ": "lj", "ʝ": "j", "ː": "p"}
"""Symbols that the voice was never taught, and those that each begins at the mean of."""
CRITICS_AHEAD = 30
"""Steps that critics learn before anything is learnt from them."""


@dataclass
class Sentence:
    ids: Tensor
    steps: Tensor
    pitch_hz: Tensor
    energy: Tensor
    """Of all frames."""
    first: int
    """Frame from which on it is decoded: a little before the first sound."""
    count: int
    pulse_windows: Tensor
    """[count, WINDOW]."""
    samples: Tensor
    """What the teacher said under the hops that the decoded frames fill."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--voice", required=True, help="one of Kokoro's that teacher.py has let speak")
    parser.add_argument("--name", help="of the run; that of the voice if left out")
    parser.add_argument("--rank", type=int, default=32, help="of additions to matrices; with --from-run, that run's")
    parser.add_argument("--minutes", type=float, default=15, help="of processor time")
    parser.add_argument("--batch", type=int, default=6, help="sentences a step")
    parser.add_argument("--rate", type=float, help="2e-3 if left out, 1e-3 with critics")
    parser.add_argument("--from-run", help="a run to go on from")
    parser.add_argument("--critics", action="store_true", help="learn from critics too: to go on from a run that has learnt without")
    parser.add_argument("--language", choices=("es",), help="one whose symbols the voice was never taught; with --from-run, that run's")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    folder = CACHE / "runs" / (options.name or options.voice)
    folder.mkdir(parents=True, exist_ok=True)

    sentences = said(options.voice)
    if len(sentences) <= HELD_OUT:
        raise SystemExit(f"There are {len(sentences)} sentences by {options.voice}, of which {HELD_OUT} are held out: let teacher.py say more.")
    held_out, sentences = sentences[:HELD_OUT], sentences[HELD_OUT:]
    minutes = sum(len(s.samples) for s in sentences) / RATE / 60
    voice = shipped()
    begun_with = torch.load(CACHE / "runs" / options.from_run / "adapter.pt") if options.from_run else None
    rank = options.rank if begun_with is None else begun_with["rank"]
    near = {} if options.language is None else near_symbols(SPANISH)
    symbols = list(near) if begun_with is None else begun_with.get("symbols", [])
    adapter = Adapter(voice, rank, symbols)
    if begun_with is None:
        adapter.begin_near(near)
    else:
        adapter.load_state_dict(begun_with["state"])
    own = sum(p.numel() for p in adapter.parameters())
    print(f"{len(sentences)} sentences, {minutes:.1f} minutes without pauses; {own} weights of its own", flush=True)

    full_rate = options.rate or (1e-3 if options.critics else 2e-3)
    betas = (0.8, 0.99) if options.critics else (0.9, 0.98)
    optimizer = torch.optim.AdamW(adapter.parameters(), full_rate, betas, weight_decay=0)
    critics = Critics() if options.critics else None
    begun, step, heard, queue = time.process_time(), 0, 0.0, []
    sums: dict[str, float] = {}
    with (folder / "curve.jsonl").open("w") as curve:

        def note(found: dict[str, float], kind: str) -> None:
            line = {"kind": kind, "step": step, "minutes": round((time.process_time() - begun) / 60, 2), "heard_s": round(heard)}
            line |= {name: round(value, 4) for name, value in found.items()}
            curve.write(json.dumps(line) + "\n")
            curve.flush()
            print(json.dumps(line), flush=True)

        def judge() -> None:
            with torch.no_grad():
                weights = adapter.weights()
                all_of = [losses(voice, weights, sentence)[0] for sentence in held_out]
            note({name: float(np.mean([float(one[name]) for one in all_of])) for name in all_of[0]}, "held out")

        def batch() -> list[Sentence]:
            while len(queue) < options.batch:
                queue.extend(rng.sample(sentences, len(sentences)))
            return [queue.pop() for _ in range(options.batch)]

        judge()
        if critics is not None:
            weights = {name: value.detach() for name, value in adapter.weights().items()}
            for _ in range(CRITICS_AHEAD):
                with torch.no_grad():
                    pairs = [(losses(voice, weights, sentence)[1], sentence.samples) for sentence in batch()]
                critics.learn(pairs)
        while True:
            done = (time.process_time() - begun) / 60 / options.minutes
            if done >= 1:
                break
            # Up over thirty steps, then down along half a cosine.
            rate = full_rate * min(1, (step + 1) / 30) * (0.02 + 0.98 * (1 + math.cos(math.pi * done)) / 2)
            for group in optimizer.param_groups:
                group["lr"] = rate
            weights = adapter.weights()
            total, pairs = torch.zeros(()), []
            for sentence in batch():
                found, spoken = losses(voice, weights, sentence)
                if critics is not None:
                    found |= critics.losses(spoken, sentence.samples)
                    pairs.append((spoken, sentence.samples))
                total = total + sum(found.values()) / options.batch
                heard += len(sentence.samples) / RATE
                for name, value in found.items():
                    sums[name] = sums.get(name, 0.0) + float(value.detach()) / options.batch
            optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(adapter.parameters(), 5.0)
            optimizer.step()
            if critics is not None:
                sums["critics"] = sums.get("critics", 0.0) + critics.learn(pairs)
            step += 1
            if step % 20 == 0:
                note({name: value / 20 for name, value in sums.items()}, "training")
                sums = {}
            if step % 100 == 0:
                judge()
                torch.save({"rank": rank, "symbols": symbols, "state": adapter.state_dict()}, folder / "adapter.pt")
        judge()
    torch.save({"rank": rank, "symbols": symbols, "state": adapter.state_dict()}, folder / "adapter.pt")


def near_symbols(near: dict[str, str]) -> dict[int, list[int]]:
    """By their ids."""
    ids = json.loads(VOCABULARY.read_text())
    return {ids[symbol]: [ids[one] for one in others] for symbol, others in near.items()}


def said(voice: str) -> list[Sentence]:
    """Whole sentences, and then the short ones."""
    paths = [
        path
        for folder in ("teacher", "short")
        for path in sorted((CACHE / folder / voice).glob("*.npz"), key=lambda path: path.stem.zfill(6))
        if path.stem.isdigit()
    ]
    return [prepared(np.load(path)) for path in paths]


def prepared(data: np.lib.npyio.NpzFile) -> Sentence:
    samples = data["samples"].astype(np.float32) / 32767
    f0, energy = data["f0"], data["energy"]
    levels = np.sqrt((samples.reshape(-1, HOP) ** 2).mean(1))
    loud = np.flatnonzero(levels > 0.01 * levels.max())
    first = max(0, int(loud[0]) - SILENT_CONTEXT_FRAMES)
    last = min(len(f0), int(loud[-1]) + 1 + SILENT_CONTEXT_FRAMES)
    # Frame n fills hops n - 2 to n + 1; hops that lack one of their four frames are left out.
    whole = samples[HOP * (first + 1) : HOP * (last - 2)]
    return Sentence(
        ids=torch.from_numpy(data["ids"].astype(np.int64)),
        steps=torch.from_numpy(data["durations"].astype(np.int64)),
        pitch_hz=torch.from_numpy(f0),
        energy=torch.from_numpy(energy),
        first=first,
        count=last - first,
        pulse_windows=windows(torch.from_numpy(pulses(f0)))[first:last].clone(),
        samples=torch.from_numpy(whole),
    )


def losses(voice: Voice, weights: dict[str, Tensor], sentence: Sentence) -> tuple[dict[str, Tensor], Tensor]:
    """And what was rendered, [samples] as the teacher's."""
    return functional_call(Losses(voice), {f"voice.{name}": value for name, value in weights.items()}, (sentence,))


class Losses(torch.nn.Module):
    """So that weights can be put in the place of the voice's."""

    def __init__(self, voice: Voice) -> None:
        super().__init__()
        self.voice = voice

    def forward(self, s: Sentence) -> tuple[dict[str, Tensor], Tensor]:
        planner, decoder = self.voice.pn, self.voice.m
        encoded = planner.text(s.ids[None])
        durations = F.l1_loss(planner.log_durations(encoded)[0], (s.steps + 1.0).log())
        pitch, energy = planner.intone(encoded.repeat_interleave(s.steps, 2))
        frames = decoder.text(s.ids[None]).repeat_interleave(2 * s.steps, 2)
        part = slice(s.first, s.first + s.count)
        spectra = decoder.describe(frames[:, :, part], s.pitch_hz[None, part], s.energy[None, part])
        noise = torch.view_as_complex(torch.randn(1, s.count, BINS, 2))
        spoken = render(spectra, s.pulse_windows[None], noise)[0, 3 * HOP : 3 * HOP + len(s.samples)]
        found = {
            "durations": 2 * durations,
            "pitch": F.l1_loss(pitch[0], s.pitch_hz) / 20,
            "energy": F.l1_loss(energy[0], s.energy) / 2,
            "spectra": apart(spoken, s.samples),
        }
        return found, spoken


def apart(spoken: Tensor, wanted: Tensor) -> Tensor:
    """Log magnitudes' mean distance plus the magnitudes' relative one, over windows of 85 to 11 ms."""
    total = spoken.new_zeros(())
    for size in RESOLUTIONS:
        window = torch.hann_window(size)
        ours, theirs = (
            torch.stft(x, size, size // 4, window=window, return_complex=True).abs() / size**0.5 for x in (spoken, wanted)
        )
        floor = 1e-4
        total = total + F.l1_loss((ours + floor).log(), (theirs + floor).log())
        total = total + (ours - theirs).norm() / theirs.norm()
    return total / len(RESOLUTIONS)


if __name__ == "__main__":
    main()
