import { setImmediate as turn } from "node:timers/promises";
import type { Encoding } from "../audio/encode/encoder.ts";
import { joined } from "../audio/joined.ts";
import type { ServiceError } from "../contract/errors.ts";
import { type EventFault, parseClientEvent } from "../contract/realtime/parse.ts";
import type { RealtimeFormat } from "../contract/realtime/session.ts";
import type { KeyedSemaphore } from "../limits/keyed-semaphore.ts";
import { abortable } from "../model/abortable.ts";
import type { Recogniser } from "../model/recogniser.ts";
import {
  DETECTION_RATE_HZ,
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../model/turn-detection.ts";
import type { ToolCall, WriterTokens } from "../model/writer.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { asServiceError } from "../serving/failures.ts";
import type { ResolveModel } from "../serving/prepare.ts";
import { NO_OUTCOME, type SpeechService } from "../serving/service.ts";
import type { WrittenReply } from "../serving/written-reply.ts";
import type { Told } from "./dialect.ts";
import { MAX_TURN_SAMPLES } from "./endpointing.ts";
import { prepareReply } from "./prepare-reply.ts";
import { RealtimeError } from "./realtime-error.ts";
import { ReplyOrder } from "./reply-order.ts";
import type { ReplyEnd } from "./response.ts";
import { Session, wireError } from "./session.ts";
import type { ResponseRequest, SessionEffect, SessionEvent } from "./session-events.ts";
import type { SessionSettings } from "./session-settings.ts";
import { SoundBuffer } from "./sound-buffer.ts";
import { SoundInput } from "./sound-input.ts";
import { type Stretch, TurnHearing } from "./turn-hearing.ts";
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
  /** Seconds from the end of a turn's speech to the first sound of its answer. */
  readonly onAnswer: (seconds: number) => void;
  readonly onFailure: (error: unknown) => void;
}

/** What one session is given. */
export interface SessionParts {
  readonly keyId: string;
  readonly settings: SessionSettings;
  /** The public id that the session's model resolved to; `null` is the default. */
  readonly model: string | null;
  /**
   * Begins a reply, or a turn that is transcribed alone, as a request of its own, with a token of the key's; throws a
   * {@link ServiceError} where that is refused.
   */
  readonly begin: (what: "response" | "transcription", signal: AbortSignal) => Promise<RequestContext>;
  /** Meters seconds of turns that no reply was metered with. */
  readonly meter: (inputAudioS: number) => Promise<void>;
  /** Sends an event. */
  readonly send: (event: ServerEvent) => void;
  /** Resolves when the client has room for more. */
  readonly hasRoom: () => Promise<void>;
  /** Aborts with the connection. */
  readonly signal: AbortSignal;
}

/** Sound that is kept: the longest turn, and what goes before it. */
const MAX_KEPT_SAMPLES = MAX_TURN_SAMPLES + 8 * DETECTION_RATE_HZ;
/** The newest of a turn is all that is judged. */
const JUDGED_SAMPLES = 8 * DETECTION_RATE_HZ;
/** Pieces of sound that may be looked for speech in before no more is taken. */
const MAX_UNHEARD = 8;
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
  readonly #sound = new SoundBuffer(MAX_KEPT_SAMPLES);
  readonly #voice: VoiceActivity;
  readonly #hearing: TurnHearing;
  #input: SoundInput;
  /** The sample that the detector began with, and how many it was given since. */
  #listenedFrom = 0;
  #listened = 0;
  /** What it is given with what comes next. */
  #gathered: Float32Array[] = [];
  #gatheredLength = 0;
  /** Counts beginnings after which what was found before is void. */
  #epoch = 0;
  #unheard = 0;
  /** Failures of the detector on end. */
  #deafness = 0;
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
    this.#session = new Session({
      settings: parts.settings,
      newId: deps.newId,
      callsTools: () => deps.service.callsTools,
    });
    this.#hearing = new TurnHearing({
      recogniser: deps.recogniser,
      places: deps.hearing,
      keyId: parts.keyId,
      read: (from, to) => this.#sound.read(from, to),
      onFailure: deps.onFailure,
      signal: parts.signal,
    });
  }

  begin(): void {
    this.#carryOut(this.#session.begin());
  }

  /** Takes in one event of the client's. One call at a time; resolves when there is room for the next. */
  async receive(told: Told): Promise<void> {
    const read = typeof told === "string" ? parseClientEvent(told) : { event: told };
    if ("fault" in read) {
      this.#refuse(read.fault);
      return;
    }
    const { event } = read;
    if (event.type.startsWith("input_audio_buffer.")) await this.#hearing.room();
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
    this.#hearing.stop();
    const gone = new Error("the session is over");
    for (const reply of this.#replies.values()) reply.abort(gone);
    const seconds = this.#unmeteredS;
    this.#unmeteredS = 0;
    if (seconds > 0) this.#parts.meter(seconds).catch(this.#deps.onFailure);
  }

  async #append(base64: string): Promise<void> {
    const bytes = Buffer.from(base64, "base64");
    const slice = Math.round(SLICE_S * this.#input.bytesPerS);
    for (let at = 0; at < bytes.length && !this.#isOver; at += slice) {
      const samples = this.#input.push(bytes.subarray(at, at + slice));
      this.#sound.push(samples);
      const heard = this.#listen(samples);
      // A client that sends no faster than it speaks is not waited for.
      if (bytes.length > slice || this.#unheard >= MAX_UNHEARD) await heard;
      if (bytes.length > slice) await turn();
    }
  }

  async #listen(samples: Float32Array): Promise<void> {
    if (this.#session.settings.turnDetection === null) return;
    this.#gathered.push(samples);
    this.#gatheredLength += samples.length;
    const rest = this.#listened % WINDOW_SAMPLES;
    if (rest + this.#gatheredLength < this.#session.windowsTogether * WINDOW_SAMPLES) return;
    const epoch = this.#epoch;
    const from = this.#listenedFrom + this.#listened - rest;
    const gathered = joined(this.#gathered);
    this.#gathered = [];
    this.#gatheredLength = 0;
    this.#listened += gathered.length;
    this.#unheard += 1;
    try {
      const probabilities = await this.#voice.push(gathered);
      if (probabilities.length > 0) this.#deafness = 0;
      if (epoch === this.#epoch) this.#step({ type: "windows", probabilities, from });
    } catch (error) {
      this.#isDeaf(error);
    } finally {
      this.#unheard -= 1;
    }
  }

  /** A thread that died is replaced, and the sound goes on. Only what lasts is told, and once. */
  #isDeaf(error: unknown): void {
    this.#deafness += 1;
    if (this.#isOver || this.#deafness > 2) return;
    this.#deps.onFailure(error);
    if (this.#deafness === 1) return;
    const told = new RealtimeError(
      "speech cannot be detected just now: commit turns yourself, or try again",
      {
        type: "server_error",
        code: "turn_detection_failed",
      },
    );
    this.#parts.send({ type: "error", error: wireError(told) });
  }

  /** The detector begins anew with what comes next. */
  #forgetVoice(): void {
    this.#voice.reset();
    this.#listenedFrom = this.#sound.appended - this.#gatheredLength;
    this.#listened = 0;
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
        this.#recognise(effect.revision, this.#stretch(effect));
        break;
      case "draft":
        this.#hearing.draft(this.#stretch(effect), (text) =>
          this.#step({ type: "partly", from: effect.from, text }),
        );
        break;
      case "judge":
        void this.#judge(effect.revision, Math.max(effect.from, effect.to - JUDGED_SAMPLES), effect.to);
        break;
      case "committed":
        this.#hearing.keep(effect.revision);
        if (this.#session.settings.type === "transcription") void this.#meterTurn(effect.seconds);
        else this.#unmeteredS += effect.seconds;
        break;
      case "forget":
        this.#sound.forget(effect.before);
        break;
      case "reset":
        this.#epoch += 1;
        this.#hearing.stop();
        this.#gathered = [];
        this.#gatheredLength = 0;
        this.#forgetVoice();
        break;
      case "refresh":
        this.#forgetVoice();
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

  async #judge(revision: number, from: number, to: number): Promise<void> {
    // What a muted client does not send is silence.
    const turn = new Float32Array(to - from);
    turn.set(this.#sound.read(from, to));
    try {
      const finished = await this.#deps.judge.judge(turn, this.#parts.signal);
      this.#step({ type: "verdict", revision, finished });
    } catch (error) {
      // The silence ends the turn then, after a while.
      if (!this.#parts.signal.aborted) this.#deps.onFailure(error);
    }
  }

  #stretch({ from, to }: { readonly from: number; readonly to: number }): Stretch {
    const { transcription } = this.#session.settings;
    return { from, to, language: transcription?.language ?? null, prompt: transcription?.prompt ?? null };
  }

  #recognise(revision: number, stretch: Stretch): void {
    const seconds = (stretch.to - stretch.from) / DETECTION_RATE_HZ;
    this.#hearing.recognise(revision, stretch, (text) =>
      this.#step({ type: "heard", revision, text, seconds }),
    );
  }

  /** A turn that nothing replies to is a request by itself. */
  async #meterTurn(seconds: number): Promise<void> {
    const { begin, meter, send, signal } = this.#parts;
    let context: RequestContext | null = null;
    try {
      context = await begin("transcription", signal);
      await meter(seconds);
      context.end();
    } catch (error) {
      const told = context?.end(error) ?? asServiceError(error);
      const { code, message } = failureOf(told);
      if (!signal.aborted) send({ type: "error", error: { type: "server_error", code, message } });
    }
  }

  async #respond(request: ResponseRequest): Promise<void> {
    const { responseId } = request;
    const leaving = new AbortController();
    this.#replies.set(responseId, leaving);
    const signal = AbortSignal.any([leaving.signal, this.#parts.signal]);
    let context: RequestContext | null = null;
    try {
      context = await this.#parts.begin("response", signal);
      const make = request.settings.modality === "text" ? this.#write : this.#speak;
      const end = await make.call(this, request, context, signal);
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
    { caller: { keyId, span } }: RequestContext,
    signal: AbortSignal,
  ): Promise<ReplyEnd> {
    const { resolve, service } = this.#deps;
    const { model } = this.#parts;
    const { type } = request.settings.outputFormat;
    const prepared = prepareReply(request, model, this.#unmeteredS, resolve);
    this.#unmeteredS = 0;
    const order = new ReplyOrder();
    const speech = service.converse(prepared, {
      keyId,
      encoding: ENCODINGS[type],
      signal,
      span,
      takesAudioAsItComes: true,
      isPlayed: true,
      // Whoever is to carry a call out need not wait until what was said before it is played.
      get maxAheadS() {
        return order.hasCall ? Number.POSITIVE_INFINITY : MAX_AHEAD_S;
      },
      onSentence: (text) => order.sentence(text),
      onCall: (call, at) => order.call(call, at),
    });
    try {
      return await this.#sayAll(request, speech, order, signal);
    } finally {
      // Whatever it holds is given back, also where it was left in the middle.
      await speech.return(NO_OUTCOME);
    }
  }

  async #sayAll(
    { responseId, spokeUntilMs, settings }: ResponseRequest,
    speech: ReturnType<SpeechService["converse"]>,
    order: ReplyOrder,
    signal: AbortSignal,
  ): Promise<ReplyEnd> {
    const bytesPerMs = settings.outputFormat.type === "audio/pcm" ? 48 : 8;
    let isFirst = true;
    for (;;) {
      const step = await speech.next();
      if (step.done) {
        const { meta, frames, tokens } = step.value;
        if (meta.stop !== "length") this.#tellRest(responseId, order);
        return endOf(meta.stop, frames, order.length, tokens);
      }
      const { bytes, marks } = step.value;
      const words = marks.words ?? [];
      const until = marks.words === undefined ? order.length : (words.at(-1)?.offset ?? -1);
      // A sentence is told with the first sound of it.
      const text = this.#tell(responseId, order.take(until));
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
      if (isFirst && spokeUntilMs !== null)
        this.#deps.onAnswer(Math.max(0, performance.now() - spokeUntilMs) / 1_000);
      isFirst = false;
      await abortable(this.#parts.hasRoom(), signal);
    }
  }

  /** A reply in text alone. */
  async #write(
    request: ResponseRequest,
    { caller: { keyId, span } }: RequestContext,
    signal: AbortSignal,
  ): Promise<ReplyEnd> {
    const { responseId } = request;
    const prepared = prepareReply(request, this.#parts.model, this.#unmeteredS, this.#deps.resolve);
    this.#unmeteredS = 0;
    const order = new ReplyOrder();
    const onCall = order.call.bind(order);
    const writing = this.#deps.service.write(prepared, { keyId, signal, span, onCall });
    try {
      for (;;) {
        const step = await writing.next();
        if (step.done) {
          const { stop, tokens } = step.value;
          if (stop !== "length") this.#tellRest(responseId, order);
          return endOf(stop, 0, order.length, tokens);
        }
        order.sentence(step.value);
        const text = this.#tell(responseId, order.take(order.length));
        this.#step({ type: "spoken", responseId, spoken: { text, sound: null } });
        await abortable(this.#parts.hasRoom(), signal);
      }
    } finally {
      await writing.return(NOTHING_WRITTEN);
    }
  }

  /** What no sound was there to be told with, such as a sentence in which no word is spoken, and the last calls. */
  #tellRest(responseId: string, order: ReplyOrder): void {
    const text = this.#tell(responseId, [...order.take(Number.POSITIVE_INFINITY), ...order.takeCalls()]);
    if (text !== "") this.#step({ type: "spoken", responseId, spoken: { text, sound: null } });
  }

  /** Tells calls, and the words before them; returns the words that are left. */
  #tell(responseId: string, parts: readonly (string | ToolCall)[]): string {
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      if (text !== "") this.#step({ type: "spoken", responseId, spoken: { text, sound: null } });
      text = "";
      this.#step({ type: "spoken", responseId, spoken: { text, sound: null, call: part } });
    }
    return text;
  }

  #refuse({ message, code, param, eventId }: EventFault): void {
    const error = new RealtimeError(message, { code, ...(param === null ? {} : { param }) });
    this.#parts.send({ type: "error", error: wireError(error, eventId ?? undefined) });
  }
}

const NOTHING_WRITTEN: WrittenReply = { text: "", stop: "finished", tokens: null };

/** Where the writer counts no tokens, four characters are taken for one. */
function endOf(stop: unknown, frames: number, chars: number, tokens: WriterTokens | null): ReplyEnd {
  const usage = {
    inputTokens: tokens?.prompt ?? 0,
    textTokens: tokens?.written ?? Math.ceil(chars / 4),
    audioTokens: frames,
  };
  if (stop === "length") return { type: "incomplete", reason: "max_output_tokens", usage };
  return { type: "completed", usage };
}

function failureOf(error: ServiceError): Extract<ReplyEnd, { type: "failed" }> {
  const code =
    error.status === 429 ? "rate_limit_exceeded" : error.status === 401 ? "invalid_api_key" : error.type;
  return { type: "failed", code, message: error.message };
}
