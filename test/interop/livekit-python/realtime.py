"""LiveKit Agents for Python: a spoken conversation by a session of its `RealtimeModel`, without a room."""

import asyncio
import json

from livekit import rtc
from livekit.agents import llm
from livekit.plugins import openai

from report import KEY, TRANSCRIPT, URL, conversation, passed
from user import FUNCTION, RATE_HZ, TURN, WEATHER, Conversation

held = Conversation()
playing = None


@llm.function_tool(raw_schema=FUNCTION)
async def get_weather(raw_arguments: dict) -> str:
    held.calls.append(raw_arguments)
    return WEATHER


async def take(session, generation):
    """Plays a reply, and calls what it calls, as the framework's own `AgentSession` does."""
    global playing
    reply = playing = held.reply()
    reply.message_id = None
    async for message in generation.message_stream:
        reply.message_id = message.message_id
        await asyncio.gather(read(message.text_stream, reply), hear(message.audio_stream, reply))
    calls = [call async for call in generation.function_stream]
    reply.is_done = True
    for call in calls:
        output = await get_weather(json.loads(call.arguments))
        context = session.chat_ctx.copy()
        context.items.append(
            llm.FunctionCallOutput(call_id=call.call_id, name=call.name, output=output, is_error=False)
        )
        await session.update_chat_ctx(context)
        await session.generate_reply()


async def read(texts, reply):
    async for text in texts:
        reply.text += text


async def hear(frames, reply):
    async for frame in frames:
        assert (frame.sample_rate, frame.num_channels) == (RATE_HZ, 1), frame
        reply.sound(len(frame.data.tobytes()))


def heard(event):
    if event.is_final:
        held.transcripts.append(event.transcript)


def interrupt(session):
    if playing is not None and held.is_playing():
        session.interrupt()
        session.truncate(
            message_id=playing.message_id, modalities=["audio"], audio_end_ms=int(1000 * playing.played_s())
        )
    held.interrupted()


async def main():
    async with openai.realtime.RealtimeModel(base_url=URL, api_key=KEY, voice="alloy") as model:
        session = model.session()
        tasks = []
        session.on("openai_server_event_received", lambda event: held.events.update([event["type"]]))
        session.on("generation_created", lambda event: tasks.append(asyncio.create_task(take(session, event))))
        session.on("input_speech_started", lambda _: interrupt(session))
        session.on("input_audio_transcription_completed", heard)
        session.on("error", lambda event: held.errors.append(repr(event.error)))
        await session.update_instructions("Be brief.")
        await session.update_tools([get_weather])

        async def send(pcm):
            session.push_audio(rtc.AudioFrame(pcm, RATE_HZ, 1, len(pcm) // 2))

        report = await held.hold(send)
        report["errors"] += [repr(task.exception()) for task in tasks if task.done() and task.exception()]
        await session.aclose()
    conversation("a spoken conversation", report)
    await by_hand()


async def by_hand():
    """A turn that the client ends itself, and has answered at once."""
    async with openai.realtime.RealtimeModel(base_url=URL, api_key=KEY, voice="alloy", turn_detection=None) as model:
        session = model.session()
        transcribed, errors = [], []
        session.on("input_audio_transcription_completed", lambda event: transcribed.append(event.transcript))
        session.on("error", lambda event: errors.append(event.error))
        session.push_audio(rtc.AudioFrame(TURN, RATE_HZ, 1, len(TURN) // 2))
        session.commit_audio()
        generation = await session.generate_reply()
        texts = [text async for message in generation.message_stream async for text in message.text_stream]
        # To the first thing that the user says: it was known when the reply was written.
        assert "".join(texts).startswith("Good morning!"), texts
        assert not errors and transcribed[-1] == TRANSCRIPT, (errors, transcribed)
        await session.aclose()
    passed("a turn that it ends itself is heard before it is answered")


asyncio.run(main())
