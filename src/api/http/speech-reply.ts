import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Encoding } from "../../audio/encode/encoder.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinBytes } from "../../audio/pcm.ts";
import type {
  SpeechAudioDelta,
  SpeechAudioDone,
  SpeechAudioError,
  SpeechFormat,
} from "../../contract/audio-speech.ts";
import type { DialogueStarted } from "../../contract/dialogue.ts";
import { ServiceError } from "../../contract/errors.ts";
import { type AudioPayload, openAiError } from "../../contract/replies.ts";
import type { Marks } from "../../contract/spoken.ts";
import type { ReadRequest } from "../../serving/prepare/request-reader.ts";
import type { ResolvedRequest } from "../../serving/prepare/resolve-request.ts";
import { maxSpeechS } from "../../serving/prepare/speech-length.ts";
import type { ReplyChunk } from "../../serving/reply/reply-chunk.ts";
import { ABANDONED_OUTCOME, type SpeechOutcome } from "../../serving/reply/speech-service.ts";
import type { HttpDeps } from "./http-deps.ts";
import {
  base64Of,
  type Chunk,
  formatUnnamedEvent,
  type PacedFormat,
  type PacedResponse,
  SSE_HEADERS,
  SSE_KEEP_ALIVE,
  sendPaced,
} from "./paced-response.ts";

/** The format of a reply that is streamed while it is spoken. */
export interface StreamFormat extends PacedFormat {
  readonly encoding: Encoding;
  /** Whether the client plays the audio as it arrives, rather than waiting for all of it. */
  readonly isPlayed: boolean;
  /** Sent before the first frame; may be empty. */
  readonly opening: Chunk;
  frame(bytes: Uint8Array, index: number, marks: Marks): Chunk;
  closing(outcome: SpeechOutcome): Chunk;
}

type Speech = AsyncGenerator<ReplyChunk, SpeechOutcome, void>;
type Step = IteratorResult<ReplyChunk, SpeechOutcome>;

/** Streams a reply's frames as they are spoken, at the client's pace. */
export async function streamSpeech(
  deps: HttpDeps,
  { prepared, audio }: ReadRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  form: StreamFormat,
): Promise<void> {
  let slot: Promise<unknown> | null = null;
  const speech = deps.service.speak(prepared, {
    ...request.tracked.caller,
    encoding: form.encoding,
    isStreamed: true,
    onQueued: (wait) => (slot = wait),
    // The header asks for audio ahead of playback: the client saves it or paces itself.
    isPlayed: form.isPlayed && request.headers["x-antiphon-pace"] !== "own",
    onFirstFrame: () => audio?.release(),
    onEnded: (reason) => request.tracked.cut(reason),
  });
  const first = speech.next();
  const write = async (response: PacedResponse) => {
    try {
      await pump(speech, first, response, form);
    } catch (error) {
      await speech.return(ABANDONED_OUTCOME).catch((late: unknown) => request.log.error({ err: late }));
      throw error;
    }
  };
  await sendPaced(deps, request, reply, form, first, write, () => slot);
}

async function pump(
  speech: Speech,
  first: Promise<Step>,
  response: PacedResponse,
  form: StreamFormat,
): Promise<void> {
  await response.write(form.opening);
  let step = await first;
  for (let index = 0; !step.done; index++) {
    const { bytes, marks } = step.value;
    const room = response.write(form.frame(bytes, index, marks));
    if (room !== null) await room;
    step = await speech.next();
  }
  response.end(form.closing(step.value));
}

export const MEDIA_TYPES: Record<SpeechFormat, string> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg; codecs=opus",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
  mulaw: "audio/basic",
  alaw: "audio/PCMA",
};

/** Returns the format of plain audio: the bytes of the file alone. */
export function bytesFormat(format: SpeechFormat, isPlayed: boolean): StreamFormat {
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

/**
 * Returns the format of `stream_format` `sse`: the same bytes in OpenAI's events. Its SDKs expect failures in
 * `error`.
 *
 * @param started first event of a dialogue
 */
export function eventsFormat(
  format: SpeechFormat,
  requestId: string,
  started?: DialogueStarted,
): StreamFormat {
  return {
    encoding: format,
    isPlayed: true,
    headers: SSE_HEADERS,
    keepAlive: SSE_KEEP_ALIVE,
    opening: started === undefined ? "" : formatUnnamedEvent(started),
    frame: (bytes, _index, marks) =>
      formatUnnamedEvent({
        type: "speech.audio.delta",
        audio: base64Of(bytes),
        ...marks,
      } satisfies SpeechAudioDelta),
    closing: (outcome) => formatUnnamedEvent(doneOf(outcome)),
    failure: (error) =>
      formatUnnamedEvent({ type: "error", error: openAiError(error, requestId) } satisfies SpeechAudioError),
  };
}

function doneOf({ usage, frames, marks, meta }: SpeechOutcome): SpeechAudioDone {
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

interface CollectedReply {
  readonly file: readonly Uint8Array[];
  readonly outcome: SpeechOutcome;
}

/**
 * Collects a whole reply; stops if the client leaves, or with a 502 at the deadline. Its memory is reserved before it
 * is spoken, until the client has read it.
 */
export async function collectReply(
  { replies, service, options }: HttpDeps,
  { prepared, audio }: ReadRequest,
  request: FastifyRequest,
  encoding: Encoding = "wav",
): Promise<CollectedReply> {
  const { caller } = request.tracked;
  const beganMs = performance.now();
  const expectedBytes = Math.ceil(maxSpeechS(prepared) * SAMPLE_RATE_HZ) * Int16Array.BYTES_PER_ELEMENT;
  const holding = await replies.enter(caller.keyId, expectedBytes, caller.signal);
  caller.keep(holding);
  const limit = { ms: options.collectTimeoutMs - (performance.now() - beganMs), late: tooLate };
  const speech = service.speak(prepared, {
    ...caller,
    encoding,
    limit,
    isStreamed: false,
    isPlayed: false,
    onFirstFrame: () => audio?.release(),
  });
  const { file, outcome } = await gather(speech);
  file[0]?.set(outcome.finishedHead);
  holding.shrink(lengthOf(file));
  return { file, outcome };
}

/** Sets a header if the reply ends before its text does. */
export function setStopHeader(reply: FastifyReply, { meta }: SpeechOutcome): void {
  if (meta.stop === "length") reply.header("X-Antiphon-Stop", "length");
}

/** Returns the audio member of a JSON reply, into which {@link sendJsonWithAudio} puts the bytes. */
export function audioPayload({ delivery }: ResolvedRequest): AudioPayload {
  return {
    sample_rate: SAMPLE_RATE_HZ,
    audio_quality: delivery.quality,
    data_b64: BASE64,
    format: "wav",
  };
}

async function gather(speech: Speech): Promise<CollectedReply> {
  const file: Uint8Array[] = [];
  let step = await speech.next();
  while (!step.done) {
    file.push(step.value.bytes);
    step = await speech.next();
  }
  return { file, outcome: step.value };
}

function lengthOf(file: readonly Uint8Array[]): number {
  return file.reduce((sum, { length }) => sum + length, 0);
}

function tooLate(): ServiceError {
  return new ServiceError(502, "the reply took too long: ask for a shorter one", { retryAfterMs: 1_000 });
}

/** Bytes per write: small, so that the progress of slow readers is noticed. Divisible by 3, for base64. */
const SLICE_BYTES = 48 * 1024;

/** Placeholder for the base64 in a value that {@link sendJsonWithAudio} sends. */
const BASE64 = "\u0000base64\u0000";
const BASE64_IN_JSON = JSON.stringify(BASE64).slice(1, -1);

/** Sends a file, a slice at a time as it is read. */
export function sendFile(reply: FastifyReply, file: readonly Uint8Array[], mediaType: string): FastifyReply {
  const bytes = joinBytes(file);
  reply.headers({ "Content-Type": mediaType, "Content-Length": bytes.length });
  const isShort = bytes.length <= 2 * SLICE_BYTES;
  return reply.send(isShort ? bytes : Readable.from(slices(bytes), { objectMode: false }));
}

/**
 * Sends JSON in which the last {@link BASE64} stands for a file in base64. It is encoded as it is read, so that a
 * waiting reply takes no more memory than its bytes.
 */
export function sendJsonWithAudio(
  reply: FastifyReply,
  value: object,
  file: readonly Uint8Array[],
): FastifyReply {
  const json = JSON.stringify(value);
  // The last one: `text` and `meta`, which precede it, may hold any text of the client's.
  const at = json.lastIndexOf(BASE64_IN_JSON);
  const before = json.slice(0, at);
  const after = json.slice(at + BASE64_IN_JSON.length);
  const length = Buffer.byteLength(before) + 4 * Math.ceil(lengthOf(file) / 3) + Buffer.byteLength(after);
  reply.headers({ "Content-Type": "application/json; charset=utf-8", "Content-Length": length });
  const parts = jsonParts(before, file, after);
  if (length <= 2 * SLICE_BYTES) return reply.send([...parts].join(""));
  // Strings rather than buffers: memory outside the heap makes garbage collection more frequent.
  return reply.send(Readable.from(parts, { objectMode: false, encoding: "utf8" }));
}

function* jsonParts(before: string, file: readonly Uint8Array[], after: string): Generator<string> {
  yield before;
  const slice = Buffer.allocUnsafeSlow(SLICE_BYTES);
  let filled = 0;
  for (const piece of file) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + SLICE_BYTES - filled);
      slice.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < SLICE_BYTES) continue;
      yield slice.toString("base64");
      filled = 0;
    }
  }
  if (filled > 0) yield slice.toString("base64", 0, filled);
  yield after;
}

function* slices(bytes: Uint8Array): Generator<Buffer> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += SLICE_BYTES) yield all.subarray(at, at + SLICE_BYTES);
}
