"""The lines that the gate learns from, and the tenth of them that is held back to find its thresholds."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CLASSES = (
    "benign",
    "self-harm",
    "medical",
    "harm-others",
    "abuse",
    "victim",
    "dosing",
    "minors",
    "injection",
)

# Characters of either turn, where two are joined.
JOINED = 200


@dataclass(frozen=True)
class Line:
    text: str
    label: int
    is_held_back: bool
    is_ordinary: bool = False
    """Said in a conversation: everyday talk rather than a look-alike."""


def everything() -> list[Line]:
    """All lines that may be learnt or that thresholds are found by, each once. What was authored as a danger is one, also
    where it stands among everyday talk."""
    found: dict[str, Line] = {}
    everyday = ordinary(HERE / "talks", 1) + ordinary(HERE.parent / "replies" / "conversations", rows=True) + replied(HERE.parent / "replies")
    for line in authored(HERE / "data") + everyday:
        found.setdefault(normal(line.text), line)
    return list(found.values())


def authored(folder: Path) -> list[Line]:
    """Every line of `<category>.txt` and `<category>-<n>.txt`, once. Neighbours are paraphrases of each other more often
    than not, so runs of twelve are held back together."""
    found: dict[str, Line | None] = {}
    for path in sorted(folder.glob("*.txt")):
        label = CLASSES.index(re.sub(r"-\d+$", "", path.stem))
        for i, text in enumerate(texts(path)):
            key = normal(text)
            if key in found and found[key] is not None and found[key].label != label:
                print(f"left out, in two classes: {text}")
                found[key] = None
            elif key not in found:
                found[key] = Line(text, label, digest(f"{path.stem} {i // 12}") % 10 == 0)
    return [line for line in found.values() if line is not None]


def ordinary(folder: Path, parts: int = 3, rows: bool = False) -> list[Line]:
    """What people say in conversations (`> ` lines), each turn by itself and with the one before it. Of those
    in rows the last of three parts is for judging the gate on everyday talk, in bench/gate-lines.ts."""
    found: dict[str, Line] = {}
    doubtful = doubts()
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text()
        for conversation in (row.replace("\t", "\n") for row in text.splitlines()) if rows else text.split("\n\n"):
            said = [line[2:].strip() for line in conversation.splitlines() if line.startswith("> ")]
            number = digest(conversation)
            if number % parts == 2 or any(normal(text) in doubtful for text in said):
                continue
            for text in filter(None, said + together(said)):
                found.setdefault(normal(text), Line(text, 0, number // parts % 10 == 0, True))
    return list(found.values())


def together(said: list[str]) -> list[str]:
    """Each turn with the one before it, as the server joins them (gate-classifier.ts)."""
    return [f"{before[-JOINED:]}{'' if before[-1] in '.!?' else '.'} {turn[:JOINED]}" for before, turn in zip(said, said[1:])]


def replied(folder: Path) -> list[Line]:
    """What people say in the kinds of turns, pairs and tones, insults apart: everyday talk, too."""
    found: dict[str, Line] = {}
    doubtful = doubts()
    for path in sorted([*folder.glob("acts/*.txt"), *folder.glob("pairs/*.txt")]):
        if path.stem.split(".")[0] in ("insult", "unheard"):
            continue
        for text in (turn[2:].strip() for turn in re.split(r"[\t\n]", path.read_text()) if turn.startswith("> ")):
            if normal(text) not in doubtful:
                found.setdefault(normal(text), Line(text, 0, digest(text) % 10 == 0, True))
    for name in ("said", "talk"):
        for row in (folder / "tones" / f"{name}.tsv").read_text().splitlines()[1:]:
            text = row.split("\t")[1]
            if normal(text) not in doubtful:
                found.setdefault(normal(text), Line(text, 0, digest(text) % 10 == 0, True))
    return list(found.values())


def doubts() -> set[str]:
    return {normal(text) for text in texts(HERE / "left-out.txt")}


def texts(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def normal(text: str) -> str:
    return re.sub(r"[^\w]+", " ", text.lower()).strip() or text


def digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
