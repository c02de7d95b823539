"""Pipecat: its services for OpenAI's speech and transcripts, each in a pipeline of its own."""

import asyncio
import time
import wave

from pipecat.frames.frames import (
    ErrorFrame,
    InputAudioRawFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver
from pipecat.pipeline.worker import PipelineParams
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.tests.utils import run_test

from report import KEY, RECORDING, TEXT, URL, passed, speech, transcript

RATE_HZ = 24000
PARAMS = PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ)


class Watch(BaseObserver):
    """Sees when what is to be said goes in, and when the first of it is heard."""

    asked = first = None

    async def on_push_frame(self, data):
        if isinstance(data.frame, TTSSpeakFrame):
            self.asked = self.asked or time.monotonic()
        elif isinstance(data.frame, TTSAudioRawFrame):
            self.first = self.first or time.monotonic()


async def through(service, frames, watch=None):
    """What comes out of a service at either end."""
    observers = [] if watch is None else [watch]
    down, up = await run_test(service, frames_to_send=frames, observers=observers, pipeline_params=PARAMS, start_timeout=20)
    return [*down, *up]


async def say(what, voice="alloy", **settings):
    tts = OpenAITTSService(api_key=KEY, base_url=URL, settings=OpenAITTSService.Settings(voice=voice, **settings))
    watch = Watch()
    heard = [
        frame
        for frame in await through(tts, [TTSSpeakFrame(TEXT)], watch)
        if isinstance(frame, TTSAudioRawFrame)
    ]
    assert {(frame.sample_rate, frame.num_channels) for frame in heard} == {(RATE_HZ, 1)}
    audio = b"".join(frame.audio for frame in heard)
    speech(what, audio, voice=voice, format="pcm", rate=RATE_HZ, first_s=watch.first - watch.asked)


async def is_refused():
    settings = OpenAITTSService.Settings(model="tts-9")
    tts = OpenAITTSService(api_key=KEY, base_url=URL, settings=settings)
    errors = [frame for frame in await through(tts, [TTSSpeakFrame(TEXT)]) if isinstance(frame, ErrorFrame)]
    assert any("tts-9" in frame.error for frame in errors), errors
    passed("an unknown model is told of in an error frame")


async def hear(what, **settings):
    stt = OpenAISTTService(
        api_key=KEY,
        base_url=URL,
        trailing_silence_secs=0,
        settings=OpenAISTTService.Settings(**settings),
    )
    with wave.open(RECORDING) as file:
        assert file.getframerate() == RATE_HZ
        samples = file.readframes(file.getnframes())
    pieces = [samples[at : at + 960] for at in range(0, len(samples), 960)]
    audio = [InputAudioRawFrame(piece, RATE_HZ, 1) for piece in pieces]
    frames = await through(stt, [VADUserStartedSpeakingFrame(), *audio, VADUserStoppedSpeakingFrame()])
    texts = [frame.text for frame in frames if isinstance(frame, TranscriptionFrame)]
    assert len(texts) == 1, frames
    transcript(what, texts[0])


async def main():
    await say("speech by its defaults")
    await say("tts-1 with instructions and a speed", voice="onyx", model="tts-1", instructions="In your own way.", speed=1.0)
    await is_refused()
    await hear("a transcript by its defaults")
    await hear("whisper-1 with a prompt", model="whisper-1", prompt="A kettle.")
    await hear("gpt-transcribe with keywords", keywords=["kettle", "milk"])


asyncio.run(main())
