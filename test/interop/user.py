"""A user of a spoken conversation, and what its client was told: the microphone is never off, and the loudspeaker plays
in real time what comes."""

import asyncio
import os
import time
import wave
from collections import Counter

RATE_HZ = 24000
CHUNK_S = 0.02
CHUNK_BYTES = int(2 * RATE_HZ * CHUNK_S)
# Of the reply that is interrupted this much is heard first.
HEARD_S = 2
LIMIT_S = 30

# Samples of 16 bits: what the user says, whatever comes.
with wave.open(os.environ["INTEROP_TURN"]) as _file:
    TURN = _file.readframes(_file.getnframes())

# The function that may be called in the fourth turn, and what it gives.
FUNCTION = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
WEATHER = "sunny"


class Reply:
    def __init__(self, held):
        self.held, self.text, self.audio_s, self.is_done, self.last_sound_at = held, "", 0.0, False, 0.0
        self.began_at = None

    def sound(self, count):
        """So many bytes of samples of 16 bits at 24 kHz have come."""
        now = time.monotonic()
        self.last_sound_at = now
        self.held.played_at = max(self.held.played_at, now) + count / 2 / RATE_HZ
        self.audio_s += count / 2 / RATE_HZ
        self.began_at = self.began_at or now

    def played_s(self):
        """Seconds of it that were heard."""
        return min(self.audio_s, time.monotonic() - self.began_at) if self.began_at else 0


class Conversation:
    def __init__(self, has_function=True):
        self.events, self.transcripts, self.replies, self.errors = Counter(), [], [], []
        self.calls = [] if has_function else None
        self.played_at = self.said_at = 0.0
        self._stop_told_at = None
        self._left = b""

    def reply(self):
        """A reply begins."""
        self.replies.append(Reply(self))
        return self.replies[-1]

    def is_playing(self):
        return time.monotonic() < self.played_at

    def interrupted(self):
        """The client was told that its user speaks: it plays no more."""
        self.played_at = 0.0
        if self.said_at and self._stop_told_at is None:
            self._stop_told_at = time.monotonic()

    async def hold(self, send, greeting=False):
        """Holds the conversation, the microphone's 20 ms awaited in `send`, and gives the report of it.

        With a `greeting` the other speaks first, to which the user listens.
        """
        microphone = asyncio.create_task(self._listen(send))
        stopped_after_s = None
        try:
            if greeting:
                await self._until("the greeting to be heard", lambda: self._is_heard(1))
                self.replies.clear()
            self._say()
            await self._until("the first reply to be heard", lambda: self._is_heard(1))
            self._say()
            await self._until("the second reply to begin", lambda: len(self.replies) > 1 and self.replies[1].audio_s)
            await asyncio.sleep(HEARD_S)
            self.said_at = time.monotonic()
            self._say()
            await self._until("the reply to the interruption", lambda: len(self.replies) > 2)
            if self._stop_told_at:
                stopped_after_s = max(self.replies[1].last_sound_at, self._stop_told_at) - self.said_at
            await self._until("the third reply to be heard", lambda: self._is_heard(3))
            if self.calls is not None:
                self._say()
                # A reply that calls a function says nothing itself.
                await self._until(
                    "the fourth reply", lambda: any(each.audio_s and each.is_done for each in self.replies[3:])
                )
        except Exception as error:
            self.errors.append(str(error))
        finally:
            microphone.cancel()
        return {
            "events": self.events,
            "transcripts": self.transcripts,
            "replies": [{"text": each.text, "audio_s": each.audio_s} for each in self.replies if each.audio_s],
            "stopped_after_s": stopped_after_s,
            "calls": self.calls,
            "errors": self.errors,
        }

    def _say(self):
        self._left = TURN

    def _is_heard(self, count):
        is_done = len(self.replies) >= count and self.replies[count - 1].is_done
        return is_done and time.monotonic() > self.played_at + 0.2

    async def _listen(self, send):
        began, count = time.monotonic(), 0
        while True:
            chunk, self._left = self._left[:CHUNK_BYTES], self._left[CHUNK_BYTES:]
            await send(chunk.ljust(CHUNK_BYTES, b"\0"))
            count += 1
            await asyncio.sleep(max(0, began + count * CHUNK_S - time.monotonic()))

    async def _until(self, what, condition):
        began = time.monotonic()
        while not condition():
            if self.errors:
                raise RuntimeError(f"there was an error before {what}")
            if time.monotonic() - began > LIMIT_S:
                raise TimeoutError(f"waited in vain for {what}")
            await asyncio.sleep(0.01)
