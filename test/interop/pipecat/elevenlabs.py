"""Pipecat: its service for ElevenLabs' WebSocket, which is sent a reply as a language model writes it."""

import asyncio
import time

from pipecat.frames.frames import (
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.tts_service import TextAggregationMode
from pipecat.tests.utils import SleepFrame, run_test

from report import KEY, TEXT, URL, passed, speech

RATE_HZ = 24000
PARAMS = PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ)
TOKENS = [f"{word} " for word in TEXT.split()]


class Heard(ElevenLabsTTSService):
    """Notes when the first audio comes."""

    first = None

    async def append_to_audio_context(self, context_id, frame):
        if isinstance(frame, TTSAudioRawFrame):
            self.first = self.first or time.monotonic()
        await super().append_to_audio_context(context_id, frame)


async def say(what, **options):
    tts = Heard(
        api_key=KEY,
        url=URL.removesuffix("/v1").replace("http", "ws", 1),
        settings=Heard.Settings(voice="alloy"),
        **options,
    )
    began = time.monotonic()
    reply = [LLMFullResponseStartFrame(), *map(LLMTextFrame, TOKENS), LLMFullResponseEndFrame()]
    down, _ = await run_test(tts, frames_to_send=[*reply, SleepFrame(8)], pipeline_params=PARAMS, start_timeout=20)
    heard = [frame for frame in down if isinstance(frame, TTSAudioRawFrame)]
    assert {(frame.sample_rate, frame.num_channels) for frame in heard} == {(RATE_HZ, 1)}
    audio = b"".join(frame.audio for frame in heard)
    speech(what, audio, voice="alloy", format="pcm", rate=RATE_HZ, first_s=tts.first - began)
    words = [frame for frame in down if isinstance(frame, TTSTextFrame)]
    assert " ".join(frame.text.strip() for frame in words) == TEXT, words
    times = [frame.pts for frame in words]
    assert times == sorted(times) and times[-1] - times[0] < 1e9 * len(audio) / 2 / RATE_HZ, times
    assert any(isinstance(frame, TTSStoppedFrame) for frame in down)
    passed(f"{what}: every word, with its time, and the end")


async def main():
    await say("sentence by sentence, its default")
    await say("token by token", text_aggregation_mode=TextAggregationMode.TOKEN)


asyncio.run(main())
