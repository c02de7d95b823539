import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { pcm16Bytes } from "../audio/pcm.ts";
import { openWavHeader } from "../audio/wav-write.ts";
import type {
  SpeechAudioDelta,
  SpeechAudioDone,
  SpeechAudioError,
  SpeechFormat,
} from "../contract/audio-speech.ts";
import type { Marks } from "../contract/spoken.ts";
import type { Outcome } from "../serving/service.ts";
import { base64Of, SSE_HEADERS, SSE_KEEP_ALIVE } from "./sse.ts";
import type { StreamForm } from "./stream-speech.ts";

/** The media type of a format. */
export const MEDIA_TYPES: Record<SpeechFormat, string> = { wav: "audio/wav", pcm: "audio/pcm" };

/** `stream_format` `audio`: nothing but the bytes of the file. */
export function bytesForm(format: SpeechFormat): StreamForm {
  return {
    headers: { "Content-Type": MEDIA_TYPES[format] },
    keepAlive: null,
    opening: openingOf(format),
    frame: pcm16Bytes,
    closing: () => "",
    failure: () => null,
  };
}

/** `stream_format` `sse`: the same bytes in events, as OpenAI names them. A failure has an `error`, as its SDKs expect. */
export function eventsForm(format: SpeechFormat, requestId: string): StreamForm {
  const header = openingOf(format);
  return {
    headers: SSE_HEADERS,
    keepAlive: SSE_KEEP_ALIVE,
    opening: header.length === 0 ? "" : deltaOf(header),
    frame: (pcm, _index, marks) => deltaOf(pcm16Bytes(pcm), marks),
    closing: (outcome) => eventOf(doneOf(outcome)),
    failure: ({ type, message }) =>
      eventOf({
        type: "error",
        error: { type, message, request_id: requestId },
      } satisfies SpeechAudioError),
  };
}

function openingOf(format: SpeechFormat): Uint8Array {
  return format === "wav" ? openWavHeader(SAMPLE_RATE_HZ) : new Uint8Array(0);
}

function deltaOf(bytes: Uint8Array, marks: Marks = {}): string {
  return eventOf({ type: "speech.audio.delta", audio: base64Of(bytes), ...marks } satisfies SpeechAudioDelta);
}

function doneOf({ usage, frames, marks }: Outcome): SpeechAudioDone {
  return {
    type: "speech.audio.done",
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
