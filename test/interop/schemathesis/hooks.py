"""Checks of this service beyond those that schemathesis has of its own."""

import re

import schemathesis

# Why a body that matches its schema may be refused with 400: what JSON Schema cannot say.
REASONS = re.compile(
    r"model .* is unknown"
    r"|.* has nothing speakable"
    r"|the text holds nothing that this voice can pronounce"
    r"|.* is empty: give words to speak"
    r"|(message\.voiceId|voice|voices\[.*\]|session\.audio\.output\.voice) .*"
    r"(is unknown: (did you mean .*\? T|t)he voices are |: write a mix as in |: a weight is a number |: name fewer)"
    r"|lexicon\[.*\]: "
    r"|(conversation\[\d+\]\.text|text|input|message\.text): (line \d+, column \d+: |its pauses last )"
    r"|(file|audio_sample): undecodable audio: "
    r"|(name|consent)( \".*\")? (is|has|must|begins|says) "
    r"|audio_sample (is|has|must|contains) "
    r"|this key has \d+ voices"
    r"|(session\.audio\.output\.)?languages? .* is (unknown|not spoken by the model)"
    r"|(script|lines)[ :\[]"
    r"|voices\[.*\] (has no name|is the same speaker)"
    r"|languages cannot be combined with language"
    r"|timestamp_granularities needs response_format"
    r"|stream gives text alone"
    r"|tool_choice must be .* or name one of the functions"
    r"|there are two functions "
    r"|the functions have more than "
    r"|conversation\[\d+\] says nothing"
    r"|conversation\[\d+\]\.speaker .* is none of the model's speakers"
    r"|voices\[.*\] names no speaker of the conversation"
    r"|conversation\[\d+\]\.audio_wav_b64(:| is not allowed on the open turn)",
    re.DOTALL,
)


@schemathesis.check
def refusals_have_a_reason(ctx, response, case):
    """A body that matches its schema is refused with 400 for one of the known reasons alone."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    message = response.json()["error"]["message"]
    assert REASONS.match(message), f"no known reason to refuse a body that matches its schema: {message}"


@schemathesis.check
def request_ids_agree(ctx, response, case):
    """The request id in a JSON body is that of the header."""
    if not response.headers.get("content-type", [""])[0].startswith("application/json"):
        return
    body = response.json()
    inside = body.get("error", body).get("request_id")
    header = response.headers["x-request-id"][0]
    assert inside in (None, header), f"the body's request id is {inside}, the header's {header}"
