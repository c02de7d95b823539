"""CPU time that the package hibari-tts takes for texts, as published: whole sentences, one thread.

Answers each line of JSON [text, ...] with {"cpu_s": ..., "audio_s": ...}.
"""
import json
import sys
import time

from hibari import SAMPLE_RATE, Hibari

tts = Hibari(threads=1)
tts("The voice clears its throat.")
print("{}", flush=True)

for line in sys.stdin:
    texts = json.loads(line)
    begun = time.process_time()
    samples = sum(len(tts(text)) for text in texts)
    cpu_s = time.process_time() - begun
    print(json.dumps({"cpu_s": cpu_s, "audio_s": samples / SAMPLE_RATE}), flush=True)
