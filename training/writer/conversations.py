"""Reads the authored conversations: `# subject`, `> ` the other person, `< ` us, a blank line between two of them."""

from dataclasses import dataclass
from pathlib import Path
import re
import sys

ROLES = {">": "user", "<": "assistant"}


@dataclass(frozen=True)
class Conversation:
    subject: str
    turns: tuple[tuple[str, str], ...]  # (role, text), oldest first
    source: str


def read_file(path: Path) -> list[Conversation]:
    found, turns, subject = [], [], ""

    def finish() -> None:
        while turns and turns[-1][0] != "assistant":
            turns.pop()
        if any(role == "user" for role, _ in turns):
            found.append(Conversation(subject, tuple(turns), path.name))
        turns.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line:
            finish()
        elif line.startswith("# "):
            finish()
            subject = line[2:].strip()
        elif line[0] in ROLES and (len(line) == 1 or line[1] == " "):
            role, text = ROLES[line[0]], line[2:].strip()
            if not text:
                sys.exit(f"{path}:{number}: an empty turn")
            if turns and turns[-1][0] == role:
                sys.exit(f"{path}:{number}: two turns of one side in a row")
            turns.append((role, text))
        else:
            sys.exit(f"{path}:{number}: neither a subject nor a turn: {line[:60]}")
    finish()
    return found


def read_all(folder: Path) -> list[Conversation]:
    seen, kept = set(), []
    for path in sorted(folder.glob("*.txt")):
        for conversation in read_file(path):
            key = tuple(normal(text) for _, text in conversation.turns)
            if key not in seen:
                seen.add(key)
                kept.append(conversation)
    return kept


def normal(text: str) -> str:
    return re.sub(r"[^a-z0-9 ]+", "", text.lower()).strip()


def without(conversations: list[Conversation], prompts: list[str]) -> list[Conversation]:
    """Leaves out what asks an evaluation prompt: three quarters or more of the rarer words shared."""
    bags = [bag for prompt in prompts if len(bag := content_words(prompt)) >= 2]

    def asks_one(conversation: Conversation) -> bool:
        for role, text in conversation.turns:
            if role != "user":
                continue
            mine = content_words(text)
            if any(mine and len(mine & bag) / len(mine | bag) >= 0.75 for bag in bags):
                return True
        return False

    return [conversation for conversation in conversations if not asks_one(conversation)]


COMMON = set(
    "a an the i you he she it we they my your his her its our their me him them is are was were be been am do does did "
    "have has had will would can could should to of in on at for with and or but so not no yes what which who how why "
    "when where that this these those there here just really very im its ive dont whats".split()
)


def content_words(text: str) -> frozenset[str]:
    return frozenset(word for word in normal(text).split() if word not in COMMON)


if __name__ == "__main__":
    folder = Path(__file__).parent / "data"
    conversations = read_all(folder)
    replies = sum(role == "assistant" for c in conversations for role, _ in c.turns)
    subjects = {c.subject for c in conversations}
    print(f"{len(conversations)} conversations, {replies} replies, {len(subjects)} subjects")
