"""What the networks' own programs give for a line of our voice, in `line.flac`.

    pip install numpy==2.* onnxruntime soundfile pipecat-ai==1.14.0 silero-vad==6.2.3 --no-deps
    python make.py SILERO_VAD.onnx SMART_TURN.onnx

The first file is `silero_vad.onnx` of silero-vad 6.2.3, the network as it hears one window at a time; the second is the
one in `turn-detection/`. The front end of smart-turn is pipecat's.
"""

import json
import sys

import numpy as np
import onnxruntime
import soundfile
from pipecat.audio.turn.smart_turn._whisper_features import compute_whisper_log_mel_features

WINDOW, CONTEXT, RATE = 512, 64, 16_000


def activity(path, samples):
    session = onnxruntime.InferenceSession(path)
    state, context, all_ = np.zeros((2, 1, 128), np.float32), np.zeros(CONTEXT, np.float32), []
    for at in range(0, len(samples) - WINDOW + 1, WINDOW):
        window = np.concatenate([context, samples[at : at + WINDOW]])
        out, state = session.run(None, {"input": window[None], "state": state, "sr": np.array(RATE, np.int64)})
        context = window[-CONTEXT:]
        all_.append(round(float(out[0, 0]), 6))
    return all_


def finished(path, turn):
    session = onnxruntime.InferenceSession(path)
    audio = np.zeros(8 * RATE, np.float32)
    audio[-min(len(turn), len(audio)) :] = turn[-len(audio) :]
    features = compute_whisper_log_mel_features(audio, do_normalize=True)
    return float(session.run(None, {"input_features": features[None].astype(np.float32)})[0][0, 0])


samples, rate = soundfile.read("line.flac", dtype="float32")
assert rate == RATE
silero, smart_turn = sys.argv[1:]
cuts = [int(part * len(samples)) for part in (0.25, 0.5, 0.75)] + [len(samples)]
golden = {
    "activity": activity(silero, samples),
    "turns": [
        {"samples": cut, "finished": round(finished(smart_turn, np.concatenate([samples[:cut], np.zeros(1600, np.float32)])), 4)}
        for cut in cuts
    ],
}
with open("line.json", "w") as file:
    json.dump(golden, file, separators=(",", ":"))
    file.write("\n")
