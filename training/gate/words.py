"""Writes the words of the gate's own lines into its file, as evidence that a turn is English.

    python words.py ../../gate/gate.json

A word counts if it is in two files of dangerous lines or in seven of all, and is no frequent word of another language.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
LANGUAGES = HERE / "../../src/text/other-language.ts"
MIN_HARMFUL_FILES = 3
MIN_FILES = 7


def english_words() -> list[str]:
    source = LANGUAGES.read_text()
    english, foreign = (
        set(re.findall(r"[^\W\d_]+", source.split(f"const {name} = ")[1].split(";")[0])) for name in ("ENGLISH", "LANGUAGES")
    )
    files: dict[str, set[Path]] = defaultdict(set)
    for path in sorted([*HERE.glob("data/*.txt"), *HERE.glob("talks/*.txt")]):
        for word in re.findall(r"[a-z]+(?:'[a-z]+)?", path.read_text().lower().replace("’", "'")):
            files[word].add(path)
    return sorted(
        word
        for word, found in files.items()
        if word not in foreign - english
        and (len(found) >= MIN_FILES or sum(path.parent.name == "data" and not path.name.startswith("benign") for path in found) >= MIN_HARMFUL_FILES)
    )


if __name__ == "__main__":
    path = Path(sys.argv[1])
    head = re.sub(r',\n "words": ".*"', "", path.read_text()).rstrip()
    path.write_text(f'{head[:-2]},\n "words": {json.dumps(" ".join(english_words()))}\n}}\n')
