"""Tells what a client had, for it to be compared with what was spoken: a line of JSON each, and a file beside it.

The server is at `URL`, with the key `KEY`. `RECORDING` is a WAV, 16 bits at 24 kHz, to be transcribed.
"""

import itertools
import json
import os

URL, KEY = os.environ["INTEROP_URL"], os.environ["INTEROP_KEY"]
RECORDING = os.environ["INTEROP_RECORDING"]
TRANSCRIPT = os.environ["INTEROP_TRANSCRIPT"]
TEXT = "Good morning! It is twenty past seven, and the tea is ready. How was the trip?"

_numbers = itertools.count()


def speech(
    what, audio, *, voice, format, text=TEXT, rate=None, first_s=None, lost_head=0, may_lack=0, may_add=0
):
    """Speech that came. With a `rate` in Hz it is samples of 16 bits, which the client decoded; else a file.

    The client itself loses `lost_head` samples at the beginning, and may lose or add so many at the end.
    """
    file = f"speech-{next(_numbers)}.{format if rate is None else 'raw'}"
    with open(file, "wb") as out:
        out.write(audio)
    _tell(
        what,
        kind="speech",
        text=text,
        voice=voice,
        format=format,
        file=file,
        is_decoded=rate is not None,
        rate=rate or 0,
        first_s=first_s,
        lost_head=lost_head,
        may_lack=may_lack,
        may_add=may_add,
    )


def transcript(what, text, *, is_recorded=True):
    """A transcript that came, of the recording or of something else; in the order in which they were asked for."""
    _tell(what, kind="transcript", text=text, is_recorded=is_recorded)


def conversation(what, report):
    """A conversation that was held, as `user.py` reports it."""
    _tell(what, kind="conversation", **report)


def passed(what):
    """Something that was looked at here, and is as it should be."""
    _tell(what, kind="passed")


def _tell(what, **more):
    print(json.dumps({"what": what, **more}, separators=(",", ":")), flush=True)
