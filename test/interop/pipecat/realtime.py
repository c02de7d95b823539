"""Pipecat: a spoken conversation by its service for OpenAI's Realtime, in a pipeline with a context; the bot greets first."""

import asyncio

from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMRunFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

from report import KEY, URL, conversation
from user import FUNCTION, RATE_HZ, WEATHER, Conversation

held = Conversation()


class Watch(FrameProcessor):
    """Sees what the service gives, downstream and, before it, upstream."""

    def __init__(self, direction):
        super().__init__()
        self.watched, self.reply = direction, None

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if direction == self.watched:
            self.see(frame)
        await self.push_frame(frame, direction)

    def see(self, frame):
        held.events[type(frame).__name__] += 1
        if isinstance(frame, TranscriptionFrame):
            held.transcripts.append(frame.text)
        elif isinstance(frame, LLMFullResponseStartFrame):
            if self.reply is None or self.reply.is_done:
                self.reply = held.reply()
        elif isinstance(frame, LLMTextFrame):
            self.reply.text += frame.text
        elif isinstance(frame, TTSAudioRawFrame):
            self.reply.sound(len(frame.audio))
        elif isinstance(frame, LLMFullResponseEndFrame):
            self.reply.is_done = True
        elif isinstance(frame, InterruptionFrame):
            held.interrupted()
        elif isinstance(frame, ErrorFrame):
            held.errors.append(frame.error)


class Loudspeaker(BaseOutputTransport):
    """Plays in real time."""

    async def start(self, frame):
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame):
        await asyncio.sleep(frame.num_frames / frame.sample_rate)
        return True


async def get_weather(params):
    held.calls.append(dict(params.arguments))
    await params.result_callback(WEATHER)


async def main():
    service = OpenAIRealtimeLLMService(
        api_key=KEY,
        base_url=f"{URL.replace('http', 'ws', 1)}/realtime",
        settings=OpenAIRealtimeLLMService.Settings(
            model="gpt-realtime",
            system_instruction="Be brief.",
            session_properties=events.SessionProperties(
                audio=events.AudioConfiguration(
                    input=events.AudioInput(
                        transcription=events.InputAudioTranscription(model="whisper-1"),
                        turn_detection=events.SemanticTurnDetection(),
                    ),
                    output=events.AudioOutput(voice="alloy"),
                )
            ),
        ),
    )
    service.register_function("get_weather", get_weather)
    schema = FUNCTION["parameters"]
    weather = FunctionSchema(
        name=FUNCTION["name"],
        description=FUNCTION["description"],
        properties=schema["properties"],
        required=schema["required"],
    )
    context = LLMContext(tools=ToolsSchema(standard_tools=[weather]))
    user, assistant = LLMContextAggregatorPair(context)
    loudspeaker = Loudspeaker(TransportParams(audio_out_enabled=True))
    up, down = Watch(FrameDirection.UPSTREAM), Watch(FrameDirection.DOWNSTREAM)
    worker = PipelineWorker(
        Pipeline([user, up, service, down, loudspeaker, assistant]),
        params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ),
        cancel_on_idle_timeout=False,
    )
    started = asyncio.Event()
    worker.add_event_handler("on_pipeline_started", lambda *_: started.set())

    async def send(pcm):
        await worker.queue_frame(InputAudioRawFrame(pcm, RATE_HZ, 1))

    async def talk():
        await started.wait()
        await worker.queue_frame(LLMRunFrame())
        report = await held.hold(send, greeting=True)
        await worker.queue_frame(EndFrame())
        conversation("a spoken conversation", report)

    runner = WorkerRunner()
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), talk())


asyncio.run(main())
