"""How natural clips sound, and whose voice they are.

Answers each line of JSON, a list of clips that each are a list of WAV paths (mono, 16-bit, of any rate) to be
joined, with {"p808": mean of DNSMOS P.808, "voice": mean speaker embedding of GE2E, of length 1}.
"""
import contextlib
import io
import json
import math
import sys

import numpy as np
import torch
from scipy.io import wavfile
from scipy.signal import resample_poly

RATE = 16000
torch.set_num_threads(1)
with contextlib.redirect_stdout(io.StringIO()):
    from resemblyzer import VoiceEncoder
    from speechmos import dnsmos

    encoder = VoiceEncoder("cpu")


def joined(paths):
    parts = []
    for path in paths:
        rate, samples = wavfile.read(path)
        assert samples.dtype == np.int16 and samples.ndim == 1, path
        common = math.gcd(rate, RATE)
        parts.append(resample_poly(samples.astype(np.float32) / 32768, RATE // common, rate // common))
    clip = np.concatenate(parts).astype(np.float32)
    loud = clip[np.abs(clip) > 0.01 * np.abs(clip).max()]
    # One level for all clips: the meters were trained on calls, and judge loudness too.
    return np.clip(clip / np.sqrt((loud**2).mean()) * 0.06, -1, 1)


print("{}", flush=True)

for line in sys.stdin:
    clips = [joined(paths) for paths in json.loads(line)]
    with contextlib.redirect_stdout(io.StringIO()):
        p808 = [dnsmos.run(clip, RATE)["p808_mos"] for clip in clips]
        voice = np.mean([encoder.embed_utterance(clip) for clip in clips], 0)
    voice /= np.linalg.norm(voice)
    print(json.dumps({"p808": float(np.mean(p808)), "voice": voice.tolist()}), flush=True)
