"""The same thing said otherwise: as typed in haste, as transcribed, inside small talk, in the middle of a longer turn."""

import random

BEFORE = (
    "hey", "hi", "hello", "so", "um", "well", "ok so", "okay", "hey so", "look", "listen", "honestly", "please",
    "excuse me", "quick question", "can I ask you something", "I have a question", "actually", "uh", "yeah",
    "good morning", "hi there", "I don't know", "anyway", "right", "and",
)  # fmt: skip
AFTER = (
    "thanks", "thank you", "please", "ok?", "you know", "right?", "haha", "lol", "what do you think", "honestly",
    "I guess", "you know what I mean", "sorry", "anyway", "cheers", "any ideas?", "can you help", "is that ok",
)  # fmt: skip


def augmented(text: str, rng: random.Random, benign: list[str]) -> str:
    """`text`, more or less; `benign` are lines that change nothing about what it is."""
    chance = rng.random()
    if chance < 0.10:
        text = f"{rng.choice(BEFORE)}{rng.choice([' ', ', ', '. '])}{text}"
    elif chance < 0.17:
        text = f"{text}{rng.choice([' ', ', ', '. '])}{rng.choice(AFTER)}"
    elif chance < 0.24:
        text = f"{ended(rng.choice(benign), rng)} {text}"
    elif chance < 0.31:
        text = f"{ended(text, rng)} {rng.choice(benign)}"
    elif chance < 0.34:
        around = [rng.choice(benign) for _ in range(rng.randint(2, 4))]
        around.insert(rng.randint(0, len(around)), text)
        text = " ".join(ended(part, rng) for part in around)
    if rng.random() < 0.35:
        text = text.lower()
    if rng.random() < 0.30:
        text = "".join(c for c in text if c not in ".,!?;:'’\"")
    elif rng.random() < 0.15:
        text = text.rstrip(".!?") + rng.choice([".", "!", "?", "...", "!!", ""])
    if rng.random() < 0.12:
        text = misspelt(text, rng)
    return text if text.strip() else "hm"


def ended(text: str, rng: random.Random) -> str:
    return text if text[-1:] in ".!?" or rng.random() < 0.3 else f"{text}."


def misspelt(text: str, rng: random.Random) -> str:
    """One or two slips: letters swapped, left out or doubled, inside words."""
    letters = list(text)
    for _ in range(rng.randint(1, 2)):
        inner = [i for i in range(1, len(letters) - 2) if letters[i].isalpha() and letters[i + 1].isalpha()]
        if not inner:
            break
        i = rng.choice(inner)
        slip = rng.random()
        if slip < 0.5:
            letters[i], letters[i + 1] = letters[i + 1], letters[i]
        elif slip < 0.8:
            del letters[i]
        else:
            letters.insert(i, letters[i])
    return "".join(letters)
