"""LiveKit Agents for Python: its plugin for ElevenLabs' WebSocket, which is sent a reply as a language model writes it."""

import asyncio
import time

from livekit.agents import APIStatusError, utils
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT
from livekit.plugins import elevenlabs

from report import KEY, TEXT, URL, passed, speech

TOKENS = [f"{word} " for word in TEXT.split()]


async def say(what, *, encoding, format, lost_head=0, may_add=0, **options):
    async with elevenlabs.TTS(base_url=URL, api_key=KEY, voice_id="ash", encoding=encoding, **options) as tts:
        began, first, audio, rates, words = time.monotonic(), None, bytearray(), set(), []
        async with tts.stream() as stream:
            for token in TOKENS:
                stream.push_text(token)
            stream.end_input()
            async for event in stream:
                first = first or time.monotonic() - began
                audio += event.frame.data.tobytes()
                rates.add(event.frame.sample_rate)
                words += event.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
        (rate,) = rates
        speech(
            what,
            audio,
            voice="ash",
            format=format,
            rate=rate,
            first_s=first,
            lost_head=lost_head,
            may_add=may_add,
        )
        assert "".join(words).split() == TEXT.split(), words
        times = [word.start_time for word in words]
        assert times == sorted(times) and times[-1] < len(audio) / 2 / rate, times
    passed(f"{what}: every word, with its time")


async def is_refused():
    async with elevenlabs.TTS(base_url=URL, api_key=KEY, voice_id="nobody's") as tts:
        try:
            async with tts.stream() as stream:
                stream.push_text(TEXT)
                stream.end_input()
                async for _ in stream:
                    raise AssertionError("there is no such voice")
        except APIStatusError as error:
            assert error.status_code == 400, error
    passed("an unknown voice is refused")


async def main():
    async with utils.http_context.open():
        await say("PCM, sentence by sentence", encoding="pcm_24000", format="pcm")
        await say("its default, an MP3", encoding="mp3_22050_32", format="mp3")
        await say("word by word", encoding="pcm_24000", format="pcm", auto_mode=False)
        await is_refused()


asyncio.run(main())
