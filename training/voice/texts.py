"""
Chooses sentences of the repository's own conversations to be said, and reads them as phonemes: .cache/texts.json; and ones of a
word or two: .cache/short.json. Those of the bench, which nothing is learnt from: .cache/harvard.json.

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
SHORT = ("Mm.", "Hm?", "Hm.", "Ah!", "Oh.", "A.", "I.", "Hi.", "Hello?", "Yes.", "No.", "Up.", "If.", "An.", "Okay.", "Well.")
SHORT_COUNT = 64
SEED = 32


def main() -> None:
    lines = [
        line[2:].strip()
        for folder in ("training/writer/data", "training/replies/pairs")
        for path in sorted((ROOT / folder).glob("*.txt"))
        for line in path.read_text().splitlines()
        if line.startswith("< ")
    ]
    (HERE / ".cache").mkdir(exist_ok=True)
    store("texts", chosen(lines, 4, 14)[:COUNT])
    store("short", list(dict.fromkeys([*SHORT, *chosen(lines, 1, 2)]))[:SHORT_COUNT])
    harvard = (ROOT / "bench/harvard.txt").read_text().strip().splitlines()
    # judge.mjs knows them by their places.
    assert store("harvard", [f"{line[0].upper()}{line[1:]}." for line in harvard]) == len(harvard)


def chosen(lines: list[str], least: int, most: int) -> list[str]:
    """Sentences of so many words, in a random order."""
    whole = {
        sentence: None
        for line in lines
        for sentence in re.split(r"(?<=[.!?]) +", line)
        if least <= len(sentence.split()) <= most and re.fullmatch(r"[A-Z][A-Za-z' ,-]+[.!?]", sentence)
    }
    texts = list(whole)
    random.Random(SEED).shuffle(texts)
    return texts


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
