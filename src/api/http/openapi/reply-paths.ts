import { SpeechAudioDelta, SpeechAudioDone, SpeechAudioError } from "../../../contract/audio-speech.ts";
import { DialogueStarted } from "../../../contract/dialogue.ts";
import {
  AudioEvent,
  ConverseResponse,
  EndEvent,
  ErrorEvent,
  MetaEvent,
  TtsResponse,
} from "../../../contract/replies.ts";
import { TELEPHONY_RATES } from "../routes/speech.ts";
import { MEDIA_TYPES } from "../speech-reply.ts";
import { BODY_EXAMPLES } from "./body-examples.ts";
import { type Json, json, operation, type Ref, STREAMED, UNREAD, WHOLE } from "./operations.ts";
import {
  eventStream,
  namedEvents,
  publishedCall,
  publishedConverse,
  publishedDialogue,
  publishedSpeech,
  publishedTts,
  telephonyQuery,
  unnamedEvents,
} from "./published-schemas.ts";

export const BYTES = { schema: { type: "string", format: "binary" } };

/** Returns the operations that answer with speech. */
export function replyPaths(ref: Ref): Json {
  const audio = Object.fromEntries(Object.values(MEDIA_TYPES).map((type) => [type, BYTES]));
  const samples = Object.fromEntries(TELEPHONY_RATES.map((rateHz) => [`audio/l16;rate=${rateHz}`, BYTES]));
  const data = { meta: MetaEvent, audio: AudioEvent, end: EndEvent, error: ErrorEvent };
  const events = ref(namedEvents("ConverseStreamEvent", data));
  const speech = [SpeechAudioDelta, SpeechAudioDone, SpeechAudioError];
  const speechEvents = ref(unnamedEvents("SpeechStreamEvent", speech));
  const dialogueEvents = ref(unnamedEvents("DialogueStreamEvent", [DialogueStarted, ...speech]));
  return {
    "/v1/tts": {
      post: operation("speech", "textToSpeech", "Text to speech", {
        body: ref(publishedTts),
        examples: BODY_EXAMPLES.tts,
        content: json(ref(TtsResponse)),
        headers: WHOLE,
      }),
    },
    "/v1/converse": {
      post: operation("speech", "converse", "Complete the open turn", {
        body: ref(publishedConverse),
        examples: BODY_EXAMPLES.converse,
        content: json(ref(ConverseResponse)),
        headers: WHOLE,
      }),
    },
    "/v1/converse/stream": {
      post: operation("speech", "converseStream", "Complete the open turn, streamed", {
        body: ref(publishedConverse),
        examples: BODY_EXAMPLES.converse,
        content: eventStream(events),
        headers: [...UNREAD, ...STREAMED],
        description:
          "Server-sent events: one `meta`, then one `audio` for every frame of 80 ms, then one `end` or `error`. " +
          "The `data` of each is one line of JSON. An `audio` event has the `words` that begin in it, and `end` has all " +
          "of them in `meta`. Comment lines keep the connection alive. Speech is sent at most " +
          "`limits.max_ahead_seconds` (see `GET /v1/info`) ahead of real-time playback, or, with the header " +
          "`X-Antiphon-Pace: own`, as fast as the client reads it.",
      }),
    },
    "/v1/audio/speech": {
      post: operation("speech", "createSpeech", "Text to speech, as in OpenAI's API", {
        body: ref(publishedSpeech),
        examples: BODY_EXAMPLES.speech,
        content: { ...audio, ...eventStream(speechEvents) },
        headers: ["X-Antiphon-Speed", "X-Antiphon-Manner", "X-Antiphon-Cautions", ...WHOLE, ...STREAMED],
        description:
          "The audio in `response_format`, or, with `stream_format` `sse`, server-sent events without names: deltas, " +
          "then one done event. A failure midway is sent as an event with an `error`; if the reply is plain audio, the " +
          "connection is closed.",
      }),
    },
    "/v1/audio/dialogue": {
      post: operation("speech", "createDialogue", "A script of several people to speech", {
        body: ref(publishedDialogue),
        examples: BODY_EXAMPLES.dialogue,
        content: { ...audio, ...eventStream(dialogueEvents) },
        headers: ["X-Antiphon-Voices", "X-Antiphon-Speed", "X-Antiphon-Cautions", ...WHOLE, ...STREAMED],
        description:
          "As `POST /v1/audio/speech`, for several speakers: each line is spoken as a turn of one conversation. Events " +
          "begin with `dialogue.started`, and their words have the `speaker` and the `line`. The words are billed, the names are not.",
      }),
    },
    "/v1/audio/telephony": {
      post: operation("speech", "speakCall", "Text to speech for telephony platforms, as a custom voice", {
        body: ref(publishedCall),
        parameters: telephonyQuery,
        examples: BODY_EXAMPLES.telephony,
        content: { "application/octet-stream": BYTES, "audio/mpeg": BYTES, ...samples },
        headers: ["X-Antiphon-Cautions", ...STREAMED],
        description:
          "For Vapi, raw samples, 16-bit little-endian and mono, at the requested rate; for jambonz, an MP3, or raw " +
          "samples at the query's `rate`. The audio is streamed while it is being spoken.",
      }),
    },
  };
}
