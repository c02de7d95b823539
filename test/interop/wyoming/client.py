"""Home Assistant's package for the Wyoming protocol: speaks a text and a stream of one, and listens."""

import asyncio
import os
import time
import wave
from urllib.parse import urlsplit

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

from report import RECORDING, TEXT, passed, speech, transcript

BRIDGE = urlsplit(os.environ["INTEROP_WYOMING_URL"])
HOST, PORT = BRIDGE.hostname, BRIDGE.port
DEADLINE_S = 60


async def up_to(client, kind):
    """Events up to the first of a kind."""
    events = []
    while True:
        event = await client.read_event()
        assert event is not None, f"the connection ended before {kind.__name__}"
        events.append(event)
        if kind.is_type(event.type):
            return events


def audio_of(events):
    """Samples of some events, every one of which has to fit the others."""
    start = [AudioStart.from_event(each) for each in events if AudioStart.is_type(each.type)]
    assert [(each.rate, each.width, each.channels) for each in start] == [(24000, 2, 1)], start
    audio, stops = b"", [each for each in events if AudioStop.is_type(each.type)]
    for event in events:
        if AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            assert (chunk.rate, chunk.width, chunk.channels) == (24000, 2, 1)
            assert chunk.timestamp == len(audio) * 1000 // 48000, "a chunk that does not follow the one before"
            audio += chunk.audio
    assert len(stops) == 1
    return audio


async def tells_what_it_is():
    async with AsyncTcpClient(HOST, PORT) as client:
        await client.write_event(Describe().event())
        info = Info.from_event((await up_to(client, Info))[-1])
        (tts,), (asr,) = info.tts, info.asr
        assert tts.installed and tts.supports_synthesize_streaming
        assert [voice.name for voice in tts.voices] == [str(label) for label in range(15)]
        assert [voice.name for voice in tts.voices if "es" in voice.languages] == ["13", "14"]
        assert "en" in asr.models[0].languages
        await client.write_event(Ping(text="here").event())
        assert Pong.from_event((await up_to(client, Pong))[-1]).text == "here"
    passed("it tells what it is, and answers a ping")


async def speaks_a_text():
    async with AsyncTcpClient(HOST, PORT) as client:
        began = time.monotonic()
        await client.write_event(Synthesize(text=TEXT, voice=SynthesizeVoice(name="1")).event())
        events = await up_to(client, AudioChunk)
        first = time.monotonic() - began
        audio = audio_of(events + await up_to(client, AudioStop))
    speech("a text", audio, voice="1", format="pcm", rate=24000, first_s=first)


async def speaks_a_stream():
    async with AsyncTcpClient(HOST, PORT) as client:
        await client.write_event(SynthesizeStart(voice=SynthesizeVoice(name="1")).event())
        words = TEXT.split(" ")
        events = []
        for index, word in enumerate(words):
            if index == len(words) - 1:
                # The last word waits until the first are heard.
                events = await up_to(client, AudioChunk)
            await client.write_event(SynthesizeChunk(text=word if index == 0 else f" {word}").event())
        await client.write_event(Synthesize(text=TEXT).event())
        await client.write_event(SynthesizeStop().event())
        audio = audio_of(events + await up_to(client, SynthesizeStopped))
    speech("a stream of words", audio, voice="1", format="pcm", rate=24000)


async def says_what_is_wrong():
    async with AsyncTcpClient(HOST, PORT) as client:
        await client.write_event(Synthesize(text=TEXT, voice=SynthesizeVoice(name="Ann")).event())
        error = Error.from_event((await up_to(client, Error))[-1])
        assert '"Ann" is unknown' in error.text and error.code == "invalid_request", error
        assert await client.read_event() is None, "who waits for audio has to see an end"
    passed("an unknown voice is told of, and ends the connection")


async def hears():
    with wave.open(RECORDING) as file:
        assert file.getframerate() == 24000
        audio = file.readframes(file.getnframes())
    async with AsyncTcpClient(HOST, PORT) as client:
        form = {"rate": 24000, "width": 2, "channels": 1}
        await client.write_event(Transcribe(language="en").event())
        await client.write_event(AudioStart(**form).event())
        for at in range(0, len(audio), 2048):
            await client.write_event(AudioChunk(**form, audio=audio[at : at + 2048]).event())
        await client.write_event(AudioStop().event())
        heard = Transcript.from_event((await up_to(client, Transcript))[-1])
        assert heard.language == "en", heard
    transcript("a transcript", heard.text)


async def main():
    await tells_what_it_is()
    await speaks_a_text()
    await speaks_a_stream()
    await says_what_is_wrong()
    await hears()


asyncio.run(asyncio.wait_for(main(), DEADLINE_S))
