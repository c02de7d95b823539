"""LiveKit Agents for Python: its OpenAI plugin's speech, by its defaults and in other formats, and its transcripts."""

import asyncio
import time
import wave

from livekit import rtc
from livekit.agents import APIStatusError
from livekit.plugins import openai

from report import KEY, RECORDING, TEXT, URL, passed, speech, transcript


# With the options by which it opens a stream at once, ffmpeg gives the packet away that it has looked at: as many samples
# are lost, of an MP3's lead-in and of other formats' speech.
LOST_HEAD = {"opus": 480, "flac": 1920}
# Opus is decoded from the middle so, and for as long not yet as it was.
SETTLING = {"opus": 2400}
# It marks the end of bare samples by 10 ms of silence.
ADDED = {"pcm": 240}


async def say(what, *, format, **options):
    """Has the text spoken, and tells of the samples that the framework makes of it."""
    async with openai.TTS(base_url=URL, api_key=KEY, **options) as tts:
        began, first, audio, rates = time.monotonic(), None, bytearray(), set()
        async for event in tts.synthesize(TEXT):
            first = first or time.monotonic() - began
            audio += event.frame.data.tobytes()
            rates.add((event.frame.sample_rate, event.frame.num_channels))
        ((rate, channels),) = rates
        assert channels == 1, channels
        settling = SETTLING.get(format, 0)
        speech(
            what,
            audio[2 * settling :],
            voice=options.get("voice", "ash"),
            format=format,
            rate=rate,
            first_s=first,
            lost_head=LOST_HEAD.get(format, 0) + settling,
            may_add=ADDED.get(format, 0),
        )


async def is_refused():
    async with openai.TTS(base_url=URL, api_key=KEY, response_format="aac") as tts:
        try:
            async for _ in tts.synthesize(TEXT):
                raise AssertionError("AAC is not made")
        except APIStatusError as error:
            assert error.status_code == 400 and not error.retryable and error.request_id, error
    passed("AAC is refused, and not asked for again")


async def hear(what, **options):
    with wave.open(RECORDING) as file:
        samples = file.readframes(file.getnframes())
        frame = rtc.AudioFrame(samples, file.getframerate(), 1, file.getnframes())
    stt = openai.STT(base_url=URL, api_key=KEY, **options)
    heard = (await stt.recognize(frame)).alternatives[0]
    assert heard.language == "en", heard
    transcript(what, heard.text)
    await stt.aclose()


async def main():
    await say("its defaults: MP3 in events", format="mp3")
    await say("tts-1: MP3 as it comes", format="mp3", model="tts-1", voice="alloy")
    for format in ["opus", "flac", "wav", "pcm"]:
        await say(f"{format} in events", format=format, response_format=format, voice="nova")
        await say(f"{format} as it comes", format=format, response_format=format, model="tts-1", voice="onyx")
    await is_refused()
    await hear("a transcript by its defaults")
    await hear("whisper-1, which it asks for times", model="whisper-1")
    await hear("gpt-transcribe with keywords, its language found out", model="gpt-transcribe", detect_language=True, keywords=["kettle", "milk"])
    await hear("gpt-transcribe with two languages", model="gpt-transcribe", language=["en", "de"])


asyncio.run(main())
