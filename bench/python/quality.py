"""How natural clips sound, and whose voice they are.

Answers each line of JSON, a list of clips that each are a list of WAV paths (mono, 16-bit, of any rate) to be
joined, with {"p808": mean of DNSMOS P.808, "voice": mean speaker embedding of GE2E, of length 1}.
"""
import contextlib
import io
import json
import math
import os
import sys

import numpy as np
import onnxruntime
import torch
from scipy.io import wavfile
from scipy.signal import resample_poly

RATE = 16000
torch.set_num_threads(1)
with contextlib.redirect_stdout(io.StringIO()):
    from resemblyzer import VoiceEncoder
    from speechmos import dnsmos

    encoder = VoiceEncoder("cpu")

threads = onnxruntime.SessionOptions()
threads.intra_op_num_threads = 1
models = os.path.join(os.path.dirname(dnsmos.__file__), "dnsmos_models")
p808 = onnxruntime.InferenceSession(os.path.join(models, "model_v8.onnx"), threads)


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


def p808_of(clip):
    """What dnsmos.run gives as p808_mos, without its other network, which takes nine tenths of its time."""
    length = int(dnsmos.INPUT_LENGTH * RATE)
    while len(clip) < length:
        clip = np.append(clip, clip)
    hops = int(len(clip) // RATE - dnsmos.INPUT_LENGTH) + 1
    # Rounded as there: a window that comes out a sample short is left out.
    windows = [clip[at * RATE : int((at + dnsmos.INPUT_LENGTH) * RATE)] for at in range(hops)]
    mels = [dnsmos.DNSMOS.audio_melspec(None, audio=window[:-160]) for window in windows if len(window) == length]
    return np.mean([p808.run(None, {"input_1": mel.astype(np.float32)[None]})[0][0][0] for mel in mels])


print("{}", flush=True)

for line in sys.stdin:
    clips = [joined(paths) for paths in json.loads(line)]
    naturalness = [p808_of(clip) for clip in clips]
    voice = np.mean([encoder.embed_utterance(clip) for clip in clips], 0)
    voice /= np.linalg.norm(voice)
    print(json.dumps({"p808": float(np.mean(naturalness)), "voice": voice.tolist()}), flush=True)
