"""Joins recordings to one WAV: 16 kHz, mono, 16-bit.

Answers each line of JSON {"pieces": [{"path": ..., "fromS": ..., "toS": ...}, ...], "into": path} with the seconds
that it has, or with {"error": why}. Reads what FFmpeg reads (PyAV comes with faster-whisper), and .raw: 16 kHz, 16-bit.
"""
import json
import sys

import av
import numpy as np
from scipy.io import wavfile

RATE = 16000
OPEN = {
    "g722": {"format": "g722"},
    "gsm": {"format": "gsm"},
    "raw": {"format": "s16le", "options": {"sample_rate": str(RATE)}},
}


def decoded(path):
    to_mono = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(path, **OPEN.get(path.rsplit(".", 1)[-1], {})) as recording:
        frames = [out for frame in recording.decode(audio=0) for out in to_mono.resample(frame)]
    return np.concatenate([frame.to_ndarray()[0] for frame in frames + to_mono.resample(None)])


def cut(piece):
    to_s = piece.get("toS")
    return decoded(piece["path"])[round(piece.get("fromS", 0) * RATE) : None if to_s is None else round(to_s * RATE)]


print("{}", flush=True)

for line in sys.stdin:
    order = json.loads(line)
    try:
        clip = np.concatenate([cut(piece) for piece in order["pieces"]])
        wavfile.write(order["into"], RATE, clip)
        print(json.dumps(len(clip) / RATE), flush=True)
    except (OSError, ValueError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
