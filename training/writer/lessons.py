"""What the adapter learns: the authored conversations, without what is answered better before the model is asked, and
without replies that teach it what it cannot do."""

from dataclasses import dataclass
from pathlib import Path
import random

from conversations import Conversation, content_words, read_all, read_file, without
from remembering import remembered

HERE = Path(__file__).parent
PAIRS = HERE.parent / "replies" / "pairs"

FACTS = ("c", "g", "h", "m", "o")
"""Files of common questions: found replies answer those, and a model this small makes up what it does not know."""
CHAT = (
    "r3-roles.txt", "r4-chat.txt", "r5-more.txt", "r6-plain.txt", "r8-make.txt",
    "r9-people.txt", "r10-day.txt", "r11-home.txt", "r12-moods.txt", "r13-going-on.txt",
)  # fmt: skip
"""Files of pairs whose manner is to be learnt; the others answer questions."""
OFTEN = {"s1-remember.txt": 3, "s2-follow.txt": 3, "s3-roles.txt": 2, "s4-talks.txt": 2}
"""Conversations that have to be read to be answered, and how often each is learnt an epoch."""
REMEMBERED = 2000


@dataclass(frozen=True)
class Lesson:
    conversation: Conversation
    learnt: tuple[bool, ...]
    """For each turn whether it is one to be learnt; never the other person's."""


def lessons(leave_out: list[str], seed: int) -> list[Lesson]:
    """In random order, without conversations that ask one of `leave_out`."""
    data = [c for c in read_all(HERE / "data") if not (c.source.startswith(FACTS) and len(c.turns) == 2)]
    chat = [c for name in CHAT for c in read_file(PAIRS / name)]
    pairs = [c for c in chat if len(c.turns) == 2]
    authored = without(data + chat, leave_out)
    made = [Lesson(*each) for each in remembered(REMEMBERED, without(pairs, leave_out), seed)]
    found = made + [lesson for c in authored for lesson in [lesson_of(c)] * OFTEN.get(c.source, 1) if any(lesson.learnt)]
    random.Random(seed).shuffle(found)
    return found


def lesson_of(conversation: Conversation) -> Lesson:
    turns = conversation.turns
    asked = [""] + [text for _, text in turns[:-1]]
    learnt = tuple(role == "assistant" and not echoes(before, text) for before, (role, text) in zip(asked, turns))
    return Lesson(conversation, learnt)


def echoes(said: str, reply: str) -> bool:
    """Whether a reply to something told opens with its words: charming where an author does it, nonsense where a small
    model does."""
    if "?" in said:
        return False
    opening = reply.replace("!", ".").replace("?", ".").split(".")[0]
    return any(len(word) > 3 and word in content_words(opening) for word in content_words(said))
