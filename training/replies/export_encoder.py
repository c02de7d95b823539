"""Writes all-MiniLM-L6-v2, as it is, the way the server reads it: GGUF, its table of words in 4 bits a weight and its
matrices in 8.

    python export_encoder.py --base all-MiniLM-L6-v2/ --out ../../replies/encoder.gguf
"""

import argparse
import sys
from pathlib import Path

from gguf import GGMLQuantizationType as Type

sys.path.insert(0, str(Path(__file__).parents[1] / "gate"))
from encoder import Encoder  # noqa: E402
from export import write_encoder  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", default="Q4_0")
    parser.add_argument("--matrices", default="Q8_0")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_encoder(
        Encoder(options.base, 6).eval(),
        options.base,
        options.out,
        name="all-MiniLM-L6-v2",
        words=Type[options.words],
        matrices=Type[options.matrices],
    )


if __name__ == "__main__":
    main()
