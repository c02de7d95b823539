"""A small tokenizer in the exact form of the published folders: vocab.json + merges.txt + tokenizer_config.json (no tokenizer.json)."""
import glob, gzip, json, os

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

QWEN_SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# what transformers 4.57.3 puts in its place when the package loads a local folder
OTHER_SPLIT = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
               r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
         "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
         "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
         "<tool_response>", "</tool_response>", "<think>", "</think>", "<|audio_start|>", "<|audio_end|>", "<tts_pad>", "<tts_text_bos>",
         "<tts_text_eod>", "<tts_text_bos_single>", "<|audio_pad|>"]
NOT_SPECIAL = {"<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>",
               "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"}


def corpus(folder, per_file=400):
    out = []
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl.gz"))):
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for i, line in enumerate(f):
                if i >= per_file:
                    break
                out += [t if isinstance(t, str) else t.get("text", "") for t in json.loads(line)["turns"]]
    return out


def build(folder, n_text, where):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN_SPLIT), behavior="isolated"),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tok.decoder = decoders.ByteLevel()
    extra = ["assistant\n", "user\n"] * 20000 + ["caf\u00e9 na\u00efve \u4f60\u597d \u3053\u3093\u306b\u3061\u306f \u041f\u0440\u0438\u0432\u0435\u0442 OpenAI YouTube iPhone 1234\n\nok  then\r\n..."] * 300
    tok.train_from_iterator(corpus(folder) + extra, trainers.BpeTrainer(vocab_size=n_text, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    tok.model.save(where)
    vocab = json.load(open(os.path.join(where, "vocab.json"), encoding="utf-8"))
    assert len(vocab) == n_text and "assistant" in vocab and "user" in vocab, len(vocab)
    added = {str(n_text + i): dict(content=s, lstrip=False, normalized=False, rstrip=False, single_word=False, special=s not in NOT_SPECIAL) for i, s in enumerate(ADDED)}
    json.dump(dict(add_bos_token=False, add_prefix_space=False, added_tokens_decoder=added,
                   additional_special_tokens=[s for s in ADDED[1:] if s not in NOT_SPECIAL], bos_token=None, clean_up_tokenization_spaces=False,
                   eos_token="<|im_end|>", errors="replace", model_max_length=131072, pad_token="<|endoftext|>", split_special_tokens=False,
                   tokenizer_class="Qwen2Tokenizer", unk_token=None), open(os.path.join(where, "tokenizer_config.json"), "w"), indent=2)


TEXTS = [
    "Hello there, how are you today?", "I'm sure you'll say we've done it; she'd go, don't.", "I'M SURE YOU'LL SAY IT, DON'T", "it\u2019s \u201csmart\u201d \u2014 ok\u2026",
    "OpenAI and YouTube on an iPhone", "1 12 123 1,000,000 3.14 10:30am", "caf\u00e9 cafe\u0301 \u212b", "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c \uff8a\uff9d\uff76\uff78",
    "\uc548\ub155\ud558\uc138\uc694 \u1112\u1161\u11ab", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430?", "and/or http://a.b/c?d=e#f", "two  spaces   three", "tab\tand\r\nlines\n\nhere ",
    "\U0001f600 \U0001f44d\U0001f3fd", "say <|im_end|> now", "<tts_pad><think>x</think>", "O'Neill's x's 'tis", "a\u00a0b\u3000c\u200bd",
]
TRAPS = ["\nleading newline", " leading space", " \n both", "trailing newline\n", "", "."]
