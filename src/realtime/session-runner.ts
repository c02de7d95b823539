import type { Encoding } from "../audio/encode/encoder.ts";
import type { ServiceError } from "../contract/errors.ts";
import { type EventFault, parseClientEvent } from "../contract/realtime/parse.ts";
import type { RealtimeFormat } from "../contract/realtime/session.ts";
import type { KeyedSemaphore } from "../limits/keyed-semaphore.ts";
import type { Recogniser } from "../model/recogniser.ts";
import { clipSound } from "../model/sound.ts";
import {
  DETECTION_RATE_HZ,
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
} from "../model/turn-detection.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { asServiceError } from "../serving/failures.ts";
import type { ResolveModel } from "../serving/prepare.ts";
import type { SpeechService } from "../serving/service.ts";
import { prepareReply } from "./prepare-reply.ts";
import { RealtimeError } from "./realtime-error.ts";
import type { ReplyEnd } from "./response.ts";
import {
  type ResponseRequest,
  Session,
  type SessionEffect,
  type SessionEvent,
  wireError,
} from "./session.ts";
import type { SessionSettings } from "./session-settings.ts";
import { SoundBuffer } from "./sound-buffer.ts";
import { SoundInput } from "./sound-input.ts";
import type { ServerEvent } from "./wire.ts";

/** What sessions share. */
export interface RealtimeDeps {
  readonly activity: VoiceActivityDetector;
  readonly judge: TurnJudge;
  /** `null`: nothing that is said can be heard. */
  readonly recogniser: Recogniser | null;
  /** Turns being heard, of everybody and of one key. */
  readonly hearing: KeyedSemaphore;
  readonly service: SpeechService;
  readonly resolve: ResolveModel;
  readonly newId: (prefix: string) => string;
  readonly onFailure: (error: unknown) => void;
}

/** What one session is given. */
export interface SessionParts {
  readonly keyId: string;
  readonly settings: SessionSettings;
  /** The public id that the session's model resolved to; `null` is the default. */
  readonly model: string | null;
  /** Begins a reply as a request of its own, with a token of the key's; throws a {@link ServiceError} where that is refused. */
  readonly begin: (signal: AbortSignal) => Promise<RequestContext>;
  /** Sends an event. */
  readonly send: (event: ServerEvent) => void;
  /** Resolves when the client has room for more. */
  readonly hasRoom: () => Promise<void>;
  /** Aborts with the connection. */
  readonly signal: AbortSignal;
}

/** Of one turn so much is kept; beyond, its beginning is forgotten. */
const MAX_TURN_S = 120;
/** Of what a client sends at once so much is taken in without letting others run. */
const SLICE_S = 0.2;
/** Replies are made so far ahead of their playing: what is cut was not made for nobody. */
const MAX_AHEAD_S = 2;

const ENCODINGS: Readonly<Record<RealtimeFormat["type"], Encoding>> = {
  "audio/pcm": "pcm",
  "audio/pcmu": "mulaw",
  "audio/pcma": "alaw",
};

/** Carries out what a {@link Session} wants done: listens, recognises, replies, and tells it what came of that. */
export class SessionRunner {
  readonly #deps: RealtimeDeps;
  readonly #parts: SessionParts;
  readonly #session: Session;
  readonly #sound = new SoundBuffer(MAX_TURN_S * DETECTION_RATE_HZ);
  readonly #voice: VoiceActivity;
  #input: SoundInput;
  /** Aborts the recognition that goes on, and what was said less of. */
  #hearing = new AbortController();
  readonly #replies = new Map<string, AbortController>();
  #alarm: NodeJS.Timeout | undefined;
  #onQuiet = (): void => {};
  /** Seconds of turns that no reply has been metered for. */
  #unmeteredS = 0;
  #isOver = false;

  constructor(deps: RealtimeDeps, parts: SessionParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#voice = deps.activity.open();
    this.#input = new SoundInput(parts.settings.inputFormat);
    this.#session = new Session({ settings: parts.settings, newId: deps.newId });
  }

  begin(): void {
    this.#carryOut(this.#session.begin());
  }

  /** Takes in one message of the client's. One call at a time; resolves when there is room for the next. */
  async receive(message: string): Promise<void> {
    const read = parseClientEvent(message);
    if ("fault" in read) {
      this.#refuse(read.fault);
      return;
    }
    const { event } = read;
    if (event.type === "input_audio_buffer.append") await this.#append(event.audio);
    if (this.#isOver) return;
    this.#step({ type: "client", event, appended: this.#sound.appended });
    const { inputFormat } = this.#session.settings;
    if (inputFormat.type !== this.#input.type) this.#input = new SoundInput(inputFormat);
  }

  /** Resolves when no reply is being made. */
  async quiet(): Promise<void> {
    while (this.#replies.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
      });
    }
  }

  /** Nothing more is done. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#alarm);
    const gone = new Error("the session is over");
    this.#hearing.abort(gone);
    for (const reply of this.#replies.values()) reply.abort(gone);
  }

  async #append(base64: string): Promise<void> {
    const bytes = Buffer.from(base64, "base64");
    const slice = Math.round(SLICE_S * this.#input.bytesPerS);
    for (let at = 0; at < bytes.length && !this.#isOver; at += slice) {
      const samples = this.#input.push(bytes.subarray(at, at + slice));
      this.#sound.push(samples);
      const heard = this.#listen(samples);
      // A client that sends no faster than it speaks is not waited for.
      if (bytes.length > slice) await heard;
    }
  }

  async #listen(samples: Float32Array): Promise<void> {
    if (this.#session.settings.turnDetection === null) return;
    try {
      const probabilities = await this.#voice.push(samples);
      this.#step({ type: "windows", probabilities });
    } catch (error) {
      this.#deps.onFailure(error);
    }
  }

  #step(event: SessionEvent): void {
    if (this.#isOver) return;
    this.#carryOut(this.#session.step(event, performance.now()));
  }

  #carryOut(effects: readonly SessionEffect[]): void {
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: SessionEffect): void {
    switch (effect.type) {
      case "send":
        this.#parts.send(effect.event);
        break;
      case "recognise":
        void this.#recognise(effect.revision, this.#sound.read(effect.from, effect.to));
        break;
      case "judge":
        void this.#judge(effect.revision, this.#sound.read(effect.from, effect.to));
        break;
      case "committed":
        this.#unmeteredS += effect.seconds;
        break;
      case "forget":
        this.#sound.forget(effect.before);
        break;
      case "reset":
        this.#voice.reset();
        break;
      case "respond":
        void this.#respond(effect.request);
        break;
      case "cancel":
        this.#replies.get(effect.responseId)?.abort(new Error("the reply was cancelled"));
        break;
      case "wake":
        this.#wake(effect.atMs);
        break;
    }
  }

  #wake(atMs: number | null): void {
    clearTimeout(this.#alarm);
    if (atMs === null) return;
    this.#alarm = setTimeout(() => this.#step({ type: "woken" }), Math.max(0, atMs - performance.now()));
  }

  async #judge(revision: number, turn: Float32Array): Promise<void> {
    try {
      const finished = await this.#deps.judge.judge(turn, this.#parts.signal);
      this.#step({ type: "verdict", revision, finished });
    } catch (error) {
      // The silence ends the turn then, after a while.
      if (!this.#parts.signal.aborted) this.#deps.onFailure(error);
    }
  }

  async #recognise(revision: number, samples: Float32Array): Promise<void> {
    this.#hearing.abort(new Error("more was said"));
    const hearing = new AbortController();
    this.#hearing = hearing;
    const seconds = samples.length / DETECTION_RATE_HZ;
    const { recogniser, hearing: places } = this.#deps;
    const signal = AbortSignal.any([hearing.signal, this.#parts.signal]);
    try {
      if (recogniser === null) throw new RealtimeError("there is no recogniser", { type: "server_error" });
      const permit = await places.enter(this.#parts.keyId, 1, signal);
      try {
        const { transcription } = this.#session.settings;
        const digest = `${this.#session.id}:${revision}`;
        const clip = { samples, sampleRateHz: DETECTION_RATE_HZ, durationS: seconds, digest };
        const heard = await recogniser.recognise(
          clipSound(clip),
          {
            language: transcription?.language ?? null,
            prompt: transcription?.prompt ?? null,
            wantsWords: false,
            draft: null,
          },
          signal,
        );
        this.#step({ type: "heard", revision, text: heard.text, seconds });
      } finally {
        permit.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#deps.onFailure(error);
      this.#step({ type: "heard", revision, text: null, seconds });
    }
  }

  async #respond(request: ResponseRequest): Promise<void> {
    const { responseId } = request;
    const leaving = new AbortController();
    this.#replies.set(responseId, leaving);
    const signal = AbortSignal.any([leaving.signal, this.#parts.signal]);
    let context: RequestContext | null = null;
    try {
      context = await this.#parts.begin(signal);
      const end = await this.#speak(request, context);
      context.end();
      this.#step({ type: "replied", responseId, end });
    } catch (error) {
      if (signal.aborted) {
        context?.leave("it was interrupted");
        return;
      }
      const told = context?.end(error) ?? asServiceError(error);
      this.#step({ type: "replied", responseId, end: failureOf(told) });
    } finally {
      this.#replies.delete(responseId);
      this.#onQuiet();
    }
  }

  async #speak(
    request: ResponseRequest,
    { caller: { keyId, signal, span } }: RequestContext,
  ): Promise<ReplyEnd> {
    const { resolve, service } = this.#deps;
    const { model } = this.#parts;
    const { responseId, settings } = request;
    const { type } = settings.outputFormat;
    const bytesPerMs = type === "audio/pcm" ? 48 : 8;
    const prepared = prepareReply(request, model, this.#unmeteredS, resolve);
    this.#unmeteredS = 0;
    const sentences: { text: string; from: number }[] = [];
    let length = 0;
    const speech = service.converse(prepared, {
      keyId,
      encoding: ENCODINGS[type],
      signal,
      span,
      takesAudioAsItComes: true,
      isPlayed: true,
      maxAheadS: MAX_AHEAD_S,
      onSentence(text) {
        sentences.push({ text, from: length });
        length += [...text].length;
      },
    });
    for (;;) {
      const step = await speech.next();
      if (step.done) return endOf(step.value.meta.stop, step.value.frames, length);
      const { bytes, marks } = step.value;
      const words = marks.words ?? [];
      const until = marks.words === undefined ? length : (words.at(-1)?.offset ?? -1);
      let text = "";
      // A sentence is told with the first sound of it.
      while (sentences[0] !== undefined && sentences[0].from <= until) text += sentences.shift()!.text;
      const spoken = {
        text,
        sound: {
          base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
          durationMs: bytes.length / bytesPerMs,
          words: words.map(({ end, offset, length: chars }) => ({
            endMs: 1_000 * end,
            endsAt: offset + chars,
          })),
          marks: words,
        },
      };
      this.#step({ type: "spoken", responseId, spoken });
      await this.#parts.hasRoom();
      signal.throwIfAborted();
    }
  }

  #refuse({ message, code, param, eventId }: EventFault): void {
    const error = new RealtimeError(message, { code, ...(param === null ? {} : { param }) });
    this.#parts.send({ type: "error", error: wireError(error, eventId ?? undefined) });
  }
}

function endOf(stop: unknown, frames: number, chars: number): ReplyEnd {
  const usage = { inputTokens: 0, textTokens: Math.ceil(chars / 4), audioTokens: frames };
  if (stop === "length") return { type: "incomplete", reason: "max_output_tokens", usage };
  return { type: "completed", usage };
}

function failureOf(error: ServiceError): ReplyEnd {
  const code =
    error.status === 429 ? "rate_limit_exceeded" : error.status === 401 ? "invalid_api_key" : error.type;
  return { type: "failed", code, message: error.message };
}
