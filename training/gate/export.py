"""Writes what train.py learnt as the server reads it: the encoder as GGUF (llama.cpp's `bert`), 8 bits a weight in the
matrices, and the head with its thresholds as JSON.

    python export.py --base all-MiniLM-L6-v2/ --runs run-a/ run-b/ --out ../../gate/
"""

import argparse
import hashlib
import json
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

from encoder import MAX_TOKENS, Encoder, averaged
from lines import CLASSES, HERE
from words import english_words

OURS = {
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "o": "attn_output",
    "up": "ffn_up",
    "down": "ffn_down",
    "attn_norm": "attn_output_norm",
    "ffn_norm": "layer_output_norm",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--runs", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    options = parser.parse_args()
    gate = averaged(options.base, options.layers, len(CLASSES), options.runs)
    options.out.mkdir(parents=True, exist_ok=True)
    encoder = options.out / "gate.gguf"
    write_encoder(gate.encoder, options.base, encoder, name="antiphon gate")
    calibrated = json.loads((HERE / "thresholds.json").read_text())
    head = {
        "encoder": {
            "sha256": hashlib.sha256(encoder.read_bytes()).hexdigest(),
            "bytes": encoder.stat().st_size,
            "width": gate.encoder.config["hidden_size"],
        },
        "classes": list(CLASSES),
        "weights": [[round(x * gate.scale, 5) for x in row] for row in gate.head.weight.tolist()],
        "biases": [round(x * gate.scale, 5) for x in gate.head.bias.tolist()],
        **calibrated,
        "words": " ".join(english_words()),
    }
    text = json.dumps(head, indent=1).replace("\n   ", " ").replace("\n  ]", "]")
    (options.out / "gate.json").write_text(text + "\n")


def write_encoder(
    encoder: Encoder, base: Path, path: Path, *, name: str, words: Type = Type.Q8_0, matrices: Type = Type.Q8_0
) -> None:
    """`words` is how the table of words is stored, `matrices` all other matrices."""
    config = encoder.config
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(name)
    writer.add_license("apache-2.0")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(MAX_TOKENS)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    write_vocabulary(writer, base)
    for part, value in encoder.state_dict().items():
        values = value.numpy()
        if part == "positions.weight":
            values = values[:MAX_TOKENS]
        is_matrix = part.endswith("weight") and values.ndim == 2 and not part.startswith(("positions", "types"))
        kind = words if part == "words.weight" else matrices if is_matrix else Type.F32
        writer.add_tensor(theirs(part), gguf.quantize(np.ascontiguousarray(values), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_vocabulary(writer: gguf.GGUFWriter, base: Path) -> None:
    """WordPiece as llama.cpp wants it: what begins a word carries a mark, and not what goes on with one."""
    words = (base / "vocab.txt").read_text(encoding="utf-8").split("\n")
    words = words[:-1] if words[-1] == "" else words
    special = {word: i for i, word in enumerate(words) if word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")}
    unused = [word.startswith("[unused") for word in words]
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(
        [
            word if word in special or skip else word[2:] if word.startswith("##") else f"\u2581{word}"
            for word, skip in zip(words, unused)
        ]
    )
    writer.add_token_types(
        [
            gguf.TokenType.UNKNOWN if word == "[UNK]"
            else gguf.TokenType.CONTROL if word in special
            else gguf.TokenType.UNUSED if skip
            else gguf.TokenType.NORMAL
            for word, skip in zip(words, unused)
        ]
    )  # fmt: skip
    writer.add_token_type_count(2)
    writer.add_bos_token_id(special["[CLS]"])
    writer.add_eos_token_id(special["[SEP]"])
    writer.add_sep_token_id(special["[SEP]"])
    writer.add_unk_token_id(special["[UNK]"])
    writer.add_pad_token_id(special["[PAD]"])
    writer.add_mask_token_id(special["[MASK]"])


def theirs(name: str) -> str:
    if name.startswith("blocks."):
        _, block, part, kind = name.split(".")
        return f"blk.{block}.{OURS[part]}.{kind}"
    part, kind = name.split(".")
    return f"{ {'words': 'token_embd', 'positions': 'position_embd', 'types': 'token_types', 'norm': 'token_embd_norm'}[part]}.{kind}"


if __name__ == "__main__":
    main()
