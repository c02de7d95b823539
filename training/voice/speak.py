"""Lets a voice with a trained adapter say the Harvard sentences of the bench: .cache/heard/NAME/N.wav, for judge.mjs.

    python speak.py --run am_michael            # by its own plan
    python speak.py --run am_michael --told     # with the teacher's durations, pitch and energy
    python speak.py --teacher am_michael        # what the teacher said (teacher.py --texts harvard)
    python speak.py --teacher ef_dora --texts spanish-held-out --sentences 40
"""

import argparse
import json
import wave
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from adapters import Adapter
from network import BINS, Voice, shipped
from waveform import RATE, speak

CACHE = Path(__file__).parent / ".cache"


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", help="of train.py; or `shipped`")
    parser.add_argument("--told", action="store_true")
    parser.add_argument("--teacher", help="a voice of Kokoro's: whom the run learnt from")
    parser.add_argument("--texts", default="harvard", help="or spanish-held-out")
    parser.add_argument("--sentences", type=int, default=28)
    options = parser.parse_args()
    torch.set_num_threads(1)
    sentences = json.loads((CACHE / f"{options.texts}.json").read_text())[: options.sentences]
    teacher = CACHE / options.texts / (options.teacher or options.run or "")
    voice = None if options.run is None else adapted(options.run)
    name = f"teacher-{options.teacher}" if voice is None else options.run + ("-told" if options.told else "")
    folder = CACHE / "heard" / name
    folder.mkdir(parents=True, exist_ok=True)
    for index, sentence in enumerate(sentences):
        torch.manual_seed(index)
        said = np.load(teacher / f"{index}.npz") if voice is None or options.told else None
        if voice is None:
            samples = said["samples"]
        else:
            ids = torch.tensor(sentence["ids"])
            plan = voice.plan(ids) if said is None else [torch.from_numpy(said[key]) for key in ("durations", "f0", "energy")]
            samples = spoken(voice, ids, *plan)
        write(folder / f"{index}.wav", samples)


def adapted(run: str) -> Voice:
    voice = shipped()
    if run != "shipped":
        stored = torch.load(CACHE / "runs" / run / "adapter.pt")
        someone = Adapter(voice, stored["rank"], stored.get("symbols", []))
        someone.load_state_dict(stored["state"])
        voice.load_state_dict(someone.weights())
    return voice


def spoken(voice: Voice, ids: Tensor, steps: Tensor, pitch_hz: Tensor, energy: Tensor) -> np.ndarray:
    spectra = voice.describe(ids, steps.long(), pitch_hz, energy)
    noise = torch.view_as_complex(torch.randn(len(spectra), BINS, 2))
    samples = speak(spectra, pitch_hz.numpy(), noise)
    return (samples.clamp(-1, 1) * 32767).round().numpy().astype(np.int16)


def write(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


if __name__ == "__main__":
    main()
