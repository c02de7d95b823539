"""Asks a server for speech with OpenAI's own package: `speak.py URL KEY`."""

import sys

import openai

url, key = sys.argv[1:]
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
BEGINS = {"mp3": b"\xff\xf3", "opus": b"OggS", "flac": b"fLaC", "wav": b"RIFF", "pcm": b""}


def ask(**options):
    return client.audio.speech.create(model="tts-1", voice="alloy", input="One way. Two ways.", **options)


assert ask().content.startswith(BEGINS["mp3"]), "mp3 is what is meant where nothing is asked"
for format, start in BEGINS.items():
    assert ask(response_format=format).content.startswith(start), format
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input="One way.", response_format=format
    ) as reply:
        assert b"".join(reply.iter_bytes()).startswith(start), format

try:
    ask(response_format="aac")
except openai.BadRequestError as error:
    assert "mp3, opus, flac, wav, pcm" in str(error), error
else:
    raise AssertionError("AAC is not made")

print("OpenAI's package for Python, speech: all as expected")
