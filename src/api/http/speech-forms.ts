import type {
  SpeechAudioDelta,
  SpeechAudioDone,
  SpeechAudioError,
  SpeechFormat,
} from "../../contract/audio-speech.ts";
import { openAiError } from "../../contract/replies.ts";
import type { Marks } from "../../contract/spoken.ts";
import type { Outcome } from "../../serving/reply/speech-service.ts";
import { base64Of, SSE_HEADERS, SSE_KEEP_ALIVE } from "./sse.ts";
import type { StreamForm } from "./stream-speech.ts";

/** The media type of a format. */
export const MEDIA_TYPES: Record<SpeechFormat, string> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg; codecs=opus",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
  mulaw: "audio/basic",
  alaw: "audio/PCMA",
};

/** `stream_format` `audio`, or none: nothing but the bytes of the file. */
export function bytesForm(format: SpeechFormat, isPlayed: boolean): StreamForm {
  return {
    encoding: format,
    isPlayed,
    headers: { "Content-Type": MEDIA_TYPES[format] },
    keepAlive: null,
    opening: "",
    frame: (bytes) => bytes,
    closing: () => "",
    failure: () => null,
  };
}

/** `stream_format` `sse`: the same bytes in events, as OpenAI names them. A failure has an `error`, as its SDKs expect. */
export function eventsForm(format: SpeechFormat, requestId: string): StreamForm {
  return {
    encoding: format,
    isPlayed: true,
    headers: SSE_HEADERS,
    keepAlive: SSE_KEEP_ALIVE,
    opening: "",
    frame: (bytes, _index, marks) => deltaOf(bytes, marks),
    closing: (outcome) => eventOf(doneOf(outcome)),
    failure: (error) =>
      eventOf({ type: "error", error: openAiError(error, requestId) } satisfies SpeechAudioError),
  };
}

function deltaOf(bytes: Uint8Array, marks: Marks): string {
  return eventOf({ type: "speech.audio.delta", audio: base64Of(bytes), ...marks } satisfies SpeechAudioDelta);
}

function doneOf({ usage, frames, marks, meta }: Outcome): SpeechAudioDone {
  return {
    type: "speech.audio.done",
    stop: meta.stop === "length" ? "length" : "finished",
    usage: {
      ...usage,
      input_tokens: usage.input_chars,
      output_tokens: frames,
      total_tokens: usage.input_chars + frames,
    },
    ...marks,
  };
}

function eventOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
