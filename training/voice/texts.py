"""
Chooses sentences of the repository's own conversations to be said, and reads them as phonemes: .cache/texts.json. Those of
the bench, which nothing is learnt from: .cache/harvard.json.

    npm run build && python texts.py

Each sentence is {"text", "phonemes", "ids"}; the ids, pads at both ends, are those of the embedded voice and of Kokoro.
"""

import json
import random
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COUNT = 6_000
SEED = 32


def main() -> None:
    lines = [
        line[2:].strip()
        for folder in ("training/writer/data", "training/replies/pairs")
        for path in sorted((ROOT / folder).glob("*.txt"))
        for line in path.read_text().splitlines()
        if line.startswith("< ")
    ]
    whole = {
        sentence: None
        for line in lines
        for sentence in re.split(r"(?<=[.!?]) +", line)
        if 4 <= len(sentence.split()) <= 14 and re.fullmatch(r"[A-Z][A-Za-z' ,-]+[.!?]", sentence)
    }
    texts = list(whole)
    random.Random(SEED).shuffle(texts)
    (HERE / ".cache").mkdir(exist_ok=True)
    store("texts", texts[:COUNT])
    harvard = (ROOT / "bench/harvard.txt").read_text().strip().splitlines()
    # judge.mjs knows them by their places.
    assert store("harvard", [f"{line[0].upper()}{line[1:]}." for line in harvard]) == len(harvard)


def store(name: str, texts: list[str]) -> int:
    """@returns how many of them can be read."""
    command = ["node", str(ROOT / "dist/src/cli/main.js"), "phonemes", "--json", "-"]
    read = subprocess.run(command, input="\n".join(texts) + "\n", capture_output=True, text=True, check=True)
    vocabulary = json.loads((ROOT / "voices/heart/vocab.json").read_text())
    sentences = []
    for text, line in zip(texts, read.stdout.splitlines(), strict=True):
        spoken = json.loads(line)
        if len(spoken) == 1 and all(phoneme in vocabulary for phoneme in spoken[0]):
            ids = [0, *(vocabulary[phoneme] for phoneme in spoken[0]), 0]
            sentences.append({"text": text, "phonemes": spoken[0], "ids": ids})
    (HERE / ".cache" / f"{name}.json").write_text(json.dumps(sentences, ensure_ascii=False))
    print(f"{name}: {len(sentences)} sentences of {len(texts)}")
    return len(sentences)


if __name__ == "__main__":
    main()
