"""Holds the networks in PyTorch and the waveform made of their frames to the goldens, as test/engines/embedded does.

    python check_waveform.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from network import BINS, shipped
from waveform import speak

GOLDENS = Path(__file__).parents[2] / "test" / "golden" / "voice" / "network.json"


@torch.no_grad()
def main() -> None:
    torch.set_num_threads(1)
    goldens = json.loads(GOLDENS.read_text())
    allowed, bins = goldens["meta"]["tolerance"]["float"], goldens["meta"]["bins"]
    voice = shipped()
    failed = False
    print("sentence  steps     pitch   energy   spectra   wave: RMS  blocks    peak")
    for number, case in enumerate(goldens["cases"]):
        ids = torch.tensor(case["ids"])
        steps, pitch, energy = voice.plan(ids)
        spectra = voice.describe(ids, steps, pitch, energy)
        samples = speak(spectra, pitch.numpy()).numpy()
        excerpt = torch.cat([spectra[:5], spectra[-5:]]).view(10, 5, BINS)[:, :, bins]
        wanted = np.stack([case[part] for part in ("lh", "theta", "ln", "lr", "phi")], 1)
        wave, furthest = case["wave"], lambda ours, theirs: float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())
        blocks = np.sqrt((samples.reshape(-1, 600) ** 2).mean(1))
        found = {
            "steps": (furthest(steps, case["durations_25ms"]), 0),
            "pitch": (furthest(pitch, case["f0"]), allowed["f0_hz"]),
            "energy": (furthest(energy, case["energy"]), allowed["energy"]),
            "spectra": (furthest(excerpt, wanted), allowed["lh_theta_ln_lr_phi_max"]),
            "rms": (abs(np.sqrt((samples**2).mean()) / wave["rms"] - 1), allowed["wave_rms_relative"]),
            "blocks": (furthest(blocks, wave["block_rms_25ms"]), 0.0005),
            "peak": (furthest(np.abs(samples).max(), wave["peak"]), 0.003),
        }
        print(f"{number:8} " + "  ".join(f"{apart:7.1e}" for apart, _ in found.values()))
        failed |= any(apart > limit for apart, limit in found.values())
    if failed:
        sys.exit("beyond the goldens' tolerance")


if __name__ == "__main__":
    main()
