import { abortable } from "../../core/abortable.ts";
import { freeClips } from "../../core/free-memory.ts";
import {
  type FollowedVoice,
  type Frame,
  NothingToSpeakError,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../../core/speech-model.ts";
import { type Stopper, stopWith } from "../../core/stop-with.ts";
import { type PlainScript, speakPlain } from "../../text/speak-plain.ts";
import { antiphonDialect } from "./antiphon-dialect.ts";
import { AttemptError } from "./attempt-error.ts";
import type { PreparedRequests, RemoteOptions } from "./dialect.ts";
import { Endpoints } from "./endpoints.ts";
import { openaiDialect } from "./openai-dialect.ts";
import { PcmFrames } from "./pcm-frames.ts";
import { type RequestedText, RequestedTexts, startedSentences } from "./requested-text.ts";
import type { SpeechChunk, SpeechChunks, SpeechEnd } from "./speech-chunks.ts";

/**
 * Creates a speech model on another server. Complete text is one request; of text that is still being written each
 * passage is one, and the next is requested while one plays, never more. Reproducibility and temperature 0 depend on
 * the server.
 */
export function createRemoteModel(options: RemoteOptions): SpeechModel {
  const { name, kind, idleTimeoutMs } = options;
  const dialect = kind === "openai" ? openaiDialect(options) : antiphonDialect(options);
  const { route, accept } = dialect;
  const endpoints = new Endpoints({ ...options, route, accept });
  const open = new Set<Stopper>();
  const closed = () => new SpeechFailedError(`${name}: the model was closed`);
  let isClosed = false;

  return {
    async *speak(script, signal) {
      if (isClosed) throw closed();
      signal.throwIfAborted();
      const stop = stopWith([signal]);
      open.add(stop);
      try {
        const requests = await dialect.prepare(script, stop.signal);
        freeClips(script.history);
        const parts = { requests, endpoints, idleTimeoutMs };
        return yield* speakPlain(script, (plain) => speakRemotely(plain, parts, stop.signal));
      } finally {
        // Cancels a request made ahead.
        stop.abort(closed());
        stop.end();
        open.delete(stop);
      }
    },
    async close() {
      isClosed = true;
      for (const stop of open) stop.abort(closed());
      endpoints.close();
    },
  };
}

export interface RemoteSpeechParts {
  readonly requests: PreparedRequests;
  readonly endpoints: Endpoints;
  /** Maximum gap between chunks of audio. */
  readonly idleTimeoutMs: number;
}

/** Frames of a response that are played before the next request. */
const FRAMES_BEFORE_LOOKAHEAD = 6;

/** A text and its response, which has begun; `null` if the utterance was already full. */
interface SentRequest extends RequestedText {
  readonly response: SpeechChunks | null;
}

/** The requests of an utterance, at most one ahead. */
class RequestQueue {
  readonly #texts: RequestedTexts;
  readonly #send: (wanted: RequestedText | null) => Promise<SentRequest | null>;
  #next: Promise<SentRequest | null> | null = null;

  constructor(texts: RequestedTexts, send: (wanted: RequestedText | null) => Promise<SentRequest | null>) {
    this.#texts = texts;
    this.#send = send;
  }

  sendNext(): Promise<SentRequest | null> {
    if (this.#next === null) {
      this.#next = this.#texts.next().then(this.#send);
      this.#next.catch(() => {});
    }
    return this.#next;
  }

  async take(signal: AbortSignal): Promise<SentRequest | null> {
    const request = await abortable(this.sendNext(), signal);
    this.#next = null;
    return request;
  }

  close(): void {
    this.#texts.release();
    this.#next?.then((request) => request?.response?.close()).catch(() => {});
  }
}

/** Speaks a script's text, one request per passage. Returns and throws as `SpeechModel.speak` does. */
export async function* speakRemotely(
  { text, delivery: { maxFrames }, traceHeaders = {} }: PlainScript,
  { requests, endpoints, idleTimeoutMs }: RemoteSpeechParts,
  signal: AbortSignal,
): AsyncGenerator<Frame, SpeechReport, void> {
  const texts = new RequestedTexts(text, requests.maxChars);
  const frames = new PcmFrames(maxFrames);
  let current: SpeechChunks | null = null;
  let voice: FollowedVoice | undefined;
  let spoken = "";
  /** End of the last word that was returned, in code points of the whole text. */
  let lastWordEnd: number | null = null;

  const queue = new RequestQueue(texts, async (wanted) => {
    if (wanted === null) {
      requests.finish();
      return null;
    }
    if (frames.frameCount === maxFrames) return { ...wanted, response: null };
    const { body, read } = requests.request(wanted.text, maxFrames - frames.frameCount);
    return { ...wanted, response: await endpoints.begin(body, read, signal, traceHeaders) };
  });
  const nextChunk = (response: SpeechChunks) => nextOrFail(response, endpoints, idleTimeoutMs, signal);
  const report = (stop: SpeechReport["stop"], words: string): SpeechReport => ({
    stop,
    spoken: words,
    ...(voice === undefined ? {} : { voice: requests.toLocalVoice(voice) }),
  });
  const reportCut = ({ text: all, offset }: SentRequest): SpeechReport =>
    report("length", spoken + (lastWordEnd === null ? all : startedSentences(all, lastWordEnd - offset)));

  try {
    for (;;) {
      const request = await queue.take(signal);
      if (request === null) break;
      if (request.response === null) return report("length", spoken);
      current = request.response;
      for (const frame of frames.silence(request.breakS)) {
        yield frame;
        signal.throwIfAborted();
      }
      if (frames.frameCount === maxFrames) return report("length", spoken);
      frames.beginResponse(request.offset);
      const lookAheadFrom = frames.frameCount + FRAMES_BEFORE_LOOKAHEAD;
      let step = await nextChunk(current);
      for (; !step.done; step = await nextChunk(current)) {
        for (const frame of frames.push(step.value)) {
          if (frames.frameCount > maxFrames) return reportCut(request);
          const last = frame.words?.at(-1);
          if (last !== undefined) lastWordEnd = last.offset + last.length;
          yield frame;
          signal.throwIfAborted();
          if (frames.frameCount >= lookAheadFrom) void queue.sendNext();
        }
        if (frames.frameCount === maxFrames && frames.pendingSamples > 0) return reportCut(request);
      }
      current.close();
      voice ??= step.value.voice;
      if (step.value.stop === "length") {
        const rest = frames.flush();
        if (rest !== null) yield rest;
        return reportCut(request);
      }
      spoken += request.text;
    }
    if (frames.frameCount + frames.pendingSamples > 0) yield* frames.silence(texts.breakS);
    const rest = frames.flush();
    if (rest !== null) yield rest;
    if (frames.frameCount === 0) {
      throw new NothingToSpeakError("the text has no letter or number, so there is nothing to speak");
    }
    return report("finished", spoken);
  } finally {
    current?.close();
    queue.close();
  }
}

async function nextOrFail(
  response: SpeechChunks,
  endpoints: Endpoints,
  idleTimeoutMs: number,
  signal: AbortSignal,
): Promise<IteratorResult<SpeechChunk, SpeechEnd>> {
  try {
    return await response.next(
      idleTimeoutMs,
      () => new AttemptError(`stopped sending audio during speech (idleTimeoutMs, ${idleTimeoutMs} ms)`),
    );
  } catch (thrown) {
    signal.throwIfAborted();
    throw endpoints.toSpeechError(thrown, response);
  }
}
