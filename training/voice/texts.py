"""
Chooses sentences of the repository's own conversations to be said, and reads them as phonemes: .cache/texts.json; and ones of a
word or two: .cache/short.json. Those of the bench, which nothing is learnt from: .cache/harvard.json.

    npm run build && python texts.py
    python texts.py --spanish es.txt

The second makes the same in Spanish, of this folder's spanish.txt and of any text with a sentence a line, which is nowhere kept:
.cache/spanish.json; and of spanish-short.txt and spanish-held-out.txt, .cache/spanish-short.json and spanish-held-out.json.

Each sentence is {"text", "phonemes", "ids"}; the ids, pads at both ends, are those of the embedded voice and of Kokoro.
"""

import argparse
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
SPANISH = re.compile(r"[¿¡]?[A-ZÁÉÍÓÚÑ][a-zA-ZáéíóúüñÁÉÍÓÚÑ ,;:]+[.!?]")
SEED = 32


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spanish", type=Path, help="a text with a Spanish sentence a line")
    options = parser.parse_args()
    (HERE / ".cache").mkdir(exist_ok=True)
    if options.spanish is None:
        english()
    else:
        spanish(lines_of(options.spanish))


def lines_of(path: Path) -> list[str]:
    return path.read_text().strip().splitlines()


def spanish(lines: list[str]) -> None:
    own, short, held_out = (lines_of(HERE / f"spanish{name}.txt") for name in ("", "-short", "-held-out"))
    whole = [line for line in dict.fromkeys(lines) if SPANISH.fullmatch(line) and 28 <= len(line) <= 62 and line not in held_out]
    random.Random(SEED).shuffle(whole)
    # People ask, and are asked, more often than sayings do; and "pt" has a sound of its own (ː), which is rare.
    kinds = [iter(own), iter([line for line in whole if re.search("[¿¡]|pt", line)]), iter(whole)]
    texts = [next(kinds[at % 3], None) or next(kinds[2], "") for at in range(COUNT)]
    store("spanish", [text for text in dict.fromkeys(texts) if text], "es")
    assert store("spanish-short", short, "es") == len(short)
    assert store("spanish-held-out", held_out, "es") == len(held_out)


def english() -> None:
    lines = [
        line[2:].strip()
        for folder in ("training/writer/data", "training/replies/pairs")
        for path in sorted((ROOT / folder).glob("*.txt"))
        for line in path.read_text().splitlines()
        if line.startswith("< ")
    ]
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


def store(name: str, texts: list[str], language: str = "en-US") -> int:
    """@returns how many of them can be read."""
    command = ["node", str(ROOT / "dist/src/cli/main.js"), "phonemes", "--language", language, "--json", "-"]
    read = subprocess.run(command, input="\n".join(texts) + "\n", capture_output=True, text=True, check=True)
    vocabulary = json.loads((ROOT / "voices/heart/vocab.json").read_text())
    sentences = []
    for text, line in zip(texts, read.stdout.splitlines(), strict=True):
        # Kokoro was taught no opening marks; the product leaves them out too.
        spoken = [each.translate({ord(mark): None for mark in "¿¡"}) for each in json.loads(line)]
        if len(spoken) == 1 and all(phoneme in vocabulary for phoneme in spoken[0]):
            ids = [0, *(vocabulary[phoneme] for phoneme in spoken[0]), 0]
            sentences.append({"text": text, "phonemes": spoken[0], "ids": ids})
    (HERE / ".cache" / f"{name}.json").write_text(json.dumps(sentences, ensure_ascii=False))
    print(f"{name}: {len(sentences)} sentences of {len(texts)}")
    return len(sentences)


if __name__ == "__main__":
    main()
