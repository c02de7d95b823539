"""Asks a server whose recogniser always hears the same, with OpenAI's own package: `transcribe.py URL KEY RECORDINGS`."""

import sys
from pathlib import Path

import openai

url, key, folder = sys.argv[1:]
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
recordings = Path(folder)
TEXT = "One way & another. Two --> <three>."

for name in ["mono-44100.mp3", "mono.ogg", "mono.webm", "mono-16000.flac"]:
    with open(recordings / name, "rb") as file:
        heard = client.audio.transcriptions.create(model="whisper-1", file=file)
    assert heard.text == TEXT, heard
    assert heard.usage.type == "duration" and abs(heard.usage.seconds - 1.25) < 0.06, heard.usage

clip = (recordings / "mono-16000.flac").read_bytes()


def ask(**options):
    return client.audio.transcriptions.create(model="whisper-1", file=("a.flac", clip), **options)


assert ask(response_format="text") == f"{TEXT}\n"
assert ask(response_format="srt").startswith("1\n00:00:00,000 --> 00:00:00,800\nOne way & another.\n\n2\n")
assert ask(response_format="vtt").startswith("WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nOne way &amp; another.")

verbose = ask(response_format="verbose_json", timestamp_granularities=["word", "segment"], language="en")
assert (verbose.language, verbose.duration, verbose.text) == ("english", 1.25, TEXT), verbose
assert [word.word for word in verbose.words] == TEXT.split(" "), verbose.words
assert [segment.id for segment in verbose.segments] == [0, 1]

events = list(ask(stream=True, prompt="Ways."))
assert [event.type for event in events] == ["transcript.text.delta"] * 2 + ["transcript.text.done"]
assert "".join(event.delta for event in events[:-1]) == TEXT
assert events[-1].usage.total_tokens == 16 + 5 + len(TEXT), events[-1]

for options, status in [
    ({"language": "klingon"}, 400),
    ({"response_format": "diarized_json"}, 400),
    ({"extra_body": {"langauge": "en"}}, 422),
]:
    try:
        ask(**options)
    except openai.APIStatusError as error:
        assert error.status_code == status and error.request_id, error
    else:
        raise AssertionError(options)

print("OpenAI's package for Python: all as expected")
