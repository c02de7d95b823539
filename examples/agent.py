"""A voice agent that calls a function, on this machine's microphone and loudspeaker. Wear headphones.

pip install "openai[realtime]" sounddevice
ANTIPHON_KEY=ant_... python examples/agent.py
"""

import asyncio
import base64
import contextlib
import json
import os

import sounddevice
from openai import AsyncOpenAI


def weather(town):
    return {"town": town, "sky": "clear", "celsius": 24}


FUNCTIONS = {"weather": weather}
TOWN = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
SESSION = {
    "type": "realtime",
    "instructions": "You are a weather reporter. Answer in one sentence.",
    "tools": [{"type": "function", "name": "weather", "description": "The weather in a town", "parameters": TOWN}],
    "audio": {"input": {"turn_detection": {"type": "semantic_vad"}}, "output": {"voice": "maya"}},
}


async def run_functions(connection, response):
    calls = [item for item in response.output if item.type == "function_call"]
    for call in calls:
        output = json.dumps(FUNCTIONS[call.name](**json.loads(call.arguments)))
        item = {"type": "function_call_output", "call_id": call.call_id, "output": output}
        await connection.conversation.item.create(item=item)
    # After an interruption, the reply to the user includes the outputs.
    if calls and response.status == "completed":
        await connection.response.create()


async def main():
    loop, recorded, playing = asyncio.get_running_loop(), asyncio.Queue(), bytearray()

    def exchange(microphone, loudspeaker, *_):
        loop.call_soon_threadsafe(recorded.put_nowait, bytes(microphone))
        loudspeaker[:] = bytes(playing[: len(loudspeaker)]).ljust(len(loudspeaker), b"\0")
        del playing[: len(loudspeaker)]

    async def send(connection):
        while True:
            await connection.input_audio_buffer.append(audio=base64.b64encode(await recorded.get()).decode())

    base_url = os.environ.get("BASE_URL", "http://127.0.0.1:8080") + "/v1"
    client = AsyncOpenAI(base_url=base_url, api_key=os.environ["ANTIPHON_KEY"])
    device = sounddevice.RawStream(samplerate=24000, channels=1, dtype="int16", blocksize=480, callback=exchange)
    async with client.realtime.connect(model="gpt-realtime") as connection:
        await connection.session.update(session=SESSION)
        with device:
            sending = asyncio.create_task(send(connection))
            async for event in connection:
                if event.type == "response.output_audio.delta":
                    playing.extend(base64.b64decode(event.delta))
                elif event.type == "input_audio_buffer.speech_started":
                    playing.clear()
                elif event.type == "response.output_audio_transcript.done":
                    print(event.transcript)
                elif event.type == "response.done":
                    await run_functions(connection, event.response)
                elif event.type == "session.updated" and not event.session.tools:
                    print("The server's writer cannot call functions: see docs/writer.md.")
                elif event.type == "error":
                    print(event.error.message)
            sending.cancel()


with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
