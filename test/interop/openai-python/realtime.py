"""OpenAI's own package for Python: a spoken conversation by `client.realtime`."""

import asyncio
import base64
import json

import openai

from report import KEY, URL, conversation
from user import FUNCTION, WEATHER, Conversation

held = Conversation()


async def listen(connection):
    replies = {}
    async for event in connection:
        held.events[event.type] += 1
        if event.type == "error":
            held.errors.append(event.error.message)
        elif event.type == "conversation.item.input_audio_transcription.completed":
            held.transcripts.append(event.transcript)
        elif event.type == "input_audio_buffer.speech_started":
            held.interrupted()
        elif event.type == "response.created":
            replies[event.response.id] = held.reply()
        elif event.type == "response.output_audio.delta":
            replies[event.response_id].sound(len(base64.b64decode(event.delta)))
        elif event.type == "response.output_audio_transcript.done":
            replies[event.response_id].text = event.transcript
        elif event.type == "response.done":
            replies[event.response.id].is_done = True
            calls = [item for item in event.response.output if item.type == "function_call"]
            for call in calls:
                held.calls.append(json.loads(call.arguments))
                item = {"type": "function_call_output", "call_id": call.call_id, "output": WEATHER}
                await connection.conversation.item.create(item=item)
            if calls:
                await connection.response.create()


async def main():
    client = openai.AsyncOpenAI(base_url=URL, api_key=KEY)
    async with client.realtime.connect(model="gpt-realtime") as connection:
        await connection.session.update(
            session={
                "type": "realtime",
                "audio": {
                    "input": {"transcription": {"model": "whisper-1"}, "turn_detection": {"type": "semantic_vad"}},
                    "output": {"voice": "alloy"},
                },
                "tools": [{"type": "function", **FUNCTION}],
            }
        )
        listening = asyncio.create_task(listen(connection))

        async def send(pcm):
            await connection.input_audio_buffer.append(audio=base64.b64encode(pcm).decode())

        report = await held.hold(send)
        listening.cancel()
    conversation("a spoken conversation", report)


asyncio.run(main())
