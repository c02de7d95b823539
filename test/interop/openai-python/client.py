"""OpenAI's own package for Python: speech in every format and way, transcripts in every form, and errors by type."""

import base64
import json
import os
import time
from pathlib import Path

import openai

from report import KEY, RECORDING, TEXT, TRANSCRIPT, URL, passed, speech, transcript

client = openai.OpenAI(base_url=URL, api_key=KEY, max_retries=0)
recordings = Path(os.environ["INTEROP_RECORDINGS"])


def ask(**options):
    return client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, **options)


def as_it_comes(take, **options):
    """What `take` makes of a reply's pieces, and the seconds until the first of them."""
    began, first, pieces = time.monotonic(), None, []
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="onyx", input=TEXT, **options
    ) as reply:
        for piece in take(reply):
            first = first or time.monotonic() - began
            pieces.append(piece)
    return b"".join(pieces), first


def deltas(reply):
    """The bytes in a reply's events."""
    for line in reply.iter_lines():
        event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
        if event.get("type") == "speech.audio.delta":
            yield base64.b64decode(event["audio"])


def refused(kind, call, says=""):
    """Has a call raise an error of that very type."""
    try:
        call()
    except openai.APIStatusError as error:
        assert type(error) is kind and error.request_id and says in str(error), error
    else:
        raise AssertionError(f"{kind.__name__} was not raised")


speech("speech without a format", ask().content, voice="alloy", format="mp3")
for format in ["mp3", "opus", "flac", "wav", "pcm"]:
    speech(f"{format} in one piece", ask(response_format=format).content, voice="alloy", format=format)
    came, first = as_it_comes(lambda reply: reply.iter_bytes(), response_format=format, stream_format="audio")
    speech(f"{format} as it comes", came, voice="onyx", format=format, first_s=first)
    came, first = as_it_comes(deltas, response_format=format, stream_format="sse")
    speech(f"{format} in events", came, voice="onyx", format=format, first_s=first)

refused(openai.BadRequestError, lambda: ask(response_format="aac"), "mp3, opus, flac, wav, pcm")
passed("AAC is refused with what there is")


def hear(file, **options):
    return client.audio.transcriptions.create(model="whisper-1", file=file, **options)


with open(RECORDING, "rb") as file:
    heard = hear(file)
assert heard.usage.type == "duration" and heard.usage.seconds > 1, heard.usage
transcript("a transcript", heard.text)
for name in ["mono-44100.mp3", "mono.ogg", "mono.webm", "mono-16000.flac"]:
    with open(recordings / name, "rb") as file:
        heard = hear(file)
    assert abs(heard.usage.seconds - 1.25) < 0.06, heard.usage
    transcript(f"a transcript of {name}", heard.text, is_recorded=False)

with open(RECORDING, "rb") as file:
    heard = client.audio.transcriptions.create(
        model="gpt-transcribe", file=file, languages=["en", "de"], keywords=["kettle", "milk"]
    )
assert [language.code for language in heard.languages] == ["en"], heard
transcript("gpt-transcribe with languages and keywords", heard.text)

clip = ("a.flac", (recordings / "mono-16000.flac").read_bytes())
transcript("as text", hear(clip, response_format="text").removesuffix("\n"), is_recorded=False)
srt = hear(clip, response_format="srt")
assert srt.startswith("1\n00:00:00,000 --> 00:00:00,800\nOne way & another.\n\n2\n"), srt
vtt = hear(clip, response_format="vtt")
assert vtt.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nOne way &amp; another."), vtt
passed("as SubRip and WebVTT")

verbose = hear(clip, response_format="verbose_json", timestamp_granularities=["word", "segment"], language="en")
assert (verbose.language, verbose.duration) == ("english", 1.25), verbose
assert [word.word for word in verbose.words] == TRANSCRIPT.split(" "), verbose.words
assert [segment.id for segment in verbose.segments] == [0, 1]
passed("with the times of words and segments")

events = list(hear(clip, stream=True, prompt="Ways."))
assert [event.type for event in events] == ["transcript.text.delta"] * 2 + ["transcript.text.done"]
assert "".join(event.delta for event in events[:-1]) == events[-1].text == TRANSCRIPT
assert events[-1].usage.total_tokens == 16 + len("Ways.") + len(TRANSCRIPT), events[-1]
passed("in events")

translation = client.audio.translations.create(model="whisper-1", file=clip, response_format="verbose_json")
assert translation.language == "english" and len(translation.segments) == 2, translation
transcript("a translation", translation.text, is_recorded=False)

refused(openai.BadRequestError, lambda: hear(clip, language="klingon"), "klingon")
refused(openai.BadRequestError, lambda: hear(clip, response_format="diarized_json"), "verbose_json")
refused(openai.UnprocessableEntityError, lambda: hear(clip, extra_body={"langauge": "en"}), "langauge")
passed("what cannot be heard so is refused by name")
