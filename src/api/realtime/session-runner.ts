import type { ServiceError } from "../../contract/errors.ts";
import type { EventFault, InboundEvent } from "../../contract/realtime/client-events.ts";
import type { Recogniser } from "../../core/recogniser.ts";
import type { RunQueued } from "../../core/run-queued.ts";
import { DETECTION_RATE_HZ, type TurnJudge, type VoiceActivityDetector } from "../../core/turn-detection.ts";
import type { EventLoopShare } from "../../limits/event-loop-budget.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { RequestContext } from "../../requests/request-context.ts";
import type { ResolveModel } from "../../serving/prepare/resolve-request.ts";
import type { AuthoredText } from "../../serving/reply/authored-text.ts";
import type { SpeechService } from "../../serving/reply/speech-service.ts";
import { toServiceError } from "../../serving/service-errors.ts";
import { MAX_TURN_SAMPLES } from "./endpointing.ts";
import { generateResponse } from "./generate-response.ts";
import { InputAudioBuffer } from "./input-audio-buffer.ts";
import { type AudioSpan, InputAudioTranscriber } from "./input-audio-transcriber.ts";
import { PreparedText, type PreparedTextParts } from "./prepared-text.ts";
import type { SessionConnection, SessionHandler } from "./realtime-dialect.ts";
import { errorPayload, RealtimeError } from "./realtime-error.ts";
import type { ResponseEnd } from "./realtime-response.ts";
import { RealtimeSession } from "./realtime-session.ts";
import type { ResponseRequest, SampleRange, SessionEffect, SessionEvent } from "./session-events.ts";
import type { SessionSettings } from "./session-settings.ts";
import { type ClaimedTurns, TurnMeter } from "./turn-meter.ts";

export interface RealtimeDeps extends Pick<PreparedTextParts, "writesAhead"> {
  readonly activity: VoiceActivityDetector;
  readonly judge: TurnJudge;
  /** `null`: no recogniser is installed. */
  readonly recogniser: Recogniser | null;
  /** Turns transcribed at once, in all and per key. */
  readonly transcriptionSlots: KeyedSemaphore;
  /** Calls of the detector and the judge at once. */
  readonly detectionSlots: KeyedSemaphore;
  readonly eventLoopShare: EventLoopShare;
  readonly service: SpeechService;
  readonly resolve: ResolveModel;
  readonly newId: (prefix: string) => string;
  /** Receives the seconds from the end of a turn's speech to the first audio of its answer. */
  readonly onFirstAudio: (seconds: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface SessionRunnerOptions extends Omit<SessionConnection, "close"> {
  readonly settings: SessionSettings;
  /** The session's public model id; `null` is the default model. */
  readonly model: string | null;
  /** Meters seconds of turns that belong to no request. */
  readonly meter: (inputAudioS: number) => Promise<void>;
  readonly hasOtherKeys: () => boolean;
}

/** Newest samples of a turn, which suffice for the judge. */
const JUDGED_SAMPLES = 8 * DETECTION_RATE_HZ;
/** Seconds of turns that may wait to be metered with a reply: the longest turn. */
const MAX_UNMETERED_S = MAX_TURN_SAMPLES / DETECTION_RATE_HZ;

/** Carries out the effects of a {@link RealtimeSession} and returns the results to it as events. */
export class SessionRunner implements SessionHandler<InboundEvent> {
  readonly #deps: RealtimeDeps;
  readonly #parts: SessionRunnerOptions;
  readonly #session: RealtimeSession;
  readonly #buffer: InputAudioBuffer;
  readonly #transcriber: InputAudioTranscriber;
  readonly #turns: TurnMeter;
  /** Settles once the latest request has begun or was refused. */
  #lastBegin: Promise<unknown> = Promise.resolve();
  readonly #replies = new Map<string, AbortController>();
  readonly #prepared: PreparedText;
  #timer: NodeJS.Timeout | undefined;
  #onIdle = (): void => {};
  #isOver = false;

  constructor(deps: RealtimeDeps, parts: SessionRunnerOptions) {
    this.#deps = deps;
    this.#parts = parts;
    this.#session = new RealtimeSession({
      settings: parts.settings,
      newId: deps.newId,
      callsTools: () => deps.service.callsTools,
    });
    this.#transcriber = new InputAudioTranscriber({
      ...{ ...deps, ...parts, slots: deps.transcriptionSlots },
      read: (from, to) => this.#buffer.read(from, to),
      onPartial: (partial) => this.#step({ type: "partial_transcript", ...partial }),
    });
    this.#buffer = new InputAudioBuffer({
      format: parts.settings.inputFormat,
      eventLoopShare: deps.eventLoopShare,
      hasOtherKeys: parts.hasOtherKeys,
      signal: parts.signal,
      detector: deps.activity,
      inTurn: this.#inTurn,
      maxWindows: () => this.#session.maxDetectionWindows,
      onWindows: (probabilities, from) => this.#step({ type: "speech_probabilities", probabilities, from }),
      onFailure: (error, count) => this.#onDetectionFailure(error, count),
    });
    this.#prepared = new PreparedText({ ...deps, ...parts });
    this.#turns = new TurnMeter((seconds) => parts.meter(seconds).catch(deps.onFailure));
  }

  begin(): void {
    for (const effect of this.#session.begin()) this.#do(effect);
  }

  async receive(event: InboundEvent): Promise<void> {
    if (event.type === "fault") {
      this.#refuse(event);
      return;
    }
    if (event.type.startsWith("input_audio_buffer.")) await this.#transcriber.waitForRoom();
    if (event.type === "input_audio_buffer.append")
      await this.#buffer.append(event.audio, this.#session.settings.turnDetection !== null);
    // Requests authenticate and take their token one at a time.
    if (event.type === "response.create") await this.#lastBegin;
    if (this.#isOver) return;
    this.#step({ type: "client_event", event, appended: this.#buffer.appended });
    this.#buffer.setFormat(this.#session.settings.inputFormat);
  }

  async whenIdle(): Promise<void> {
    while (this.#replies.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
  }

  end(): void {
    this.#isOver = true;
    this.#buffer.close();
    clearTimeout(this.#timer);
    this.#turns.addDiscarded(this.#transcriber.takeTranscribedSeconds());
    this.#transcriber.stop();
    this.#prepared.discard();
    const gone = new Error("the session is over");
    for (const reply of this.#replies.values()) reply.abort(gone);
    this.#turns.end();
  }

  readonly #inTurn: RunQueued = async (work) => {
    const permit = await this.#deps.detectionSlots.enter(this.#parts.keyId, 1, this.#parts.signal);
    try {
      return await work();
    } finally {
      permit.release();
    }
  };

  /**
   * Reports a lasting failure once. A thread that died is replaced, so a single failure is not reported to the
   * client.
   */
  #onDetectionFailure(error: unknown, count: number): void {
    if (this.#isOver || count > 2) return;
    this.#deps.onFailure(error);
    if (count === 1) return;
    const message = "turn detection failed: commit turns yourself, or try again";
    const failure = new RealtimeError(message, { type: "server_error", code: "turn_detection_failed" });
    this.#parts.send({ type: "error", error: errorPayload(failure) });
  }

  #step(event: SessionEvent): void {
    if (this.#isOver) return;
    for (const effect of this.#session.step(event, performance.now())) this.#do(effect);
    this.#meterUnanswered();
  }

  #meterUnanswered(): void {
    if (this.#session.isAnswering && this.#turns.seconds < MAX_UNMETERED_S) return;
    for (let turn = this.#turns.claimTranscribed(); turn !== null; turn = this.#turns.claimTranscribed())
      void this.#meterTurn(turn);
  }

  #do(effect: SessionEffect): void {
    switch (effect.type) {
      case "send":
        this.#parts.send(effect.event);
        break;
      case "transcribe":
        this.#transcriber.transcribe(effect.revision, this.#spanOf(effect), (text) => {
          const seconds = (effect.to - effect.from) / DETECTION_RATE_HZ;
          this.#step({ type: "transcript", revision: effect.revision, text, seconds });
        });
        break;
      case "transcribe_partial":
        this.#transcriber.transcribePartial(this.#spanOf(effect), effect.isUnconfirmed);
        break;
      case "sentence_pause":
        this.#transcriber.endSentence(effect.revision);
        break;
      case "judge":
        void this.#judge(effect.revision, Math.max(effect.from, effect.to - JUDGED_SAMPLES), effect.to);
        break;
      case "turn_committed":
        this.#transcriber.keep(effect.revision);
        this.#turns.add(effect.revision, effect.seconds);
        break;
      case "turn_transcribed":
        this.#turns.transcribed(effect.revision, effect.hasFailed);
        break;
      case "turn_discarded":
        this.#turns.addDiscarded(this.#transcriber.takeTranscribedSeconds());
        break;
      case "forget_audio":
        this.#buffer.forget(effect.before);
        break;
      case "reset_detection":
        this.#transcriber.stop();
        this.#buffer.resetDetection();
        break;
      case "refresh_detector":
        this.#buffer.refreshDetector();
        break;
      case "prepare":
        void this.#prepared.prepare(effect.request);
        break;
      case "respond":
        void this.#respond(effect.request);
        break;
      case "cancel":
        this.#replies.get(effect.responseId)?.abort(new Error("the reply was cancelled"));
        break;
      case "first_audio":
        this.#deps.onFirstAudio(effect.afterMs / 1_000);
        break;
      case "set_timer":
        this.#setTimer(effect.atMs);
        break;
    }
  }

  #setTimer(atMs: number | null): void {
    clearTimeout(this.#timer);
    if (atMs === null) return;
    const afterMs = Math.max(0, atMs - performance.now());
    // Sockets are read after timers, so audio that arrived while the event loop was busy counts.
    this.#timer = setTimeout(() => {
      setImmediate(() => {
        const isBehind = this.#buffer.isBehind || this.#parts.isBehind();
        this.#step({ type: "timer", isBehind });
      });
    }, afterMs);
  }

  async #judge(revision: number, from: number, to: number): Promise<void> {
    // Audio that a muted client did not send stays silent.
    const turn = new Float32Array(to - from);
    turn.set(this.#buffer.read(from, to));
    try {
      const finished = await this.#inTurn(() => this.#deps.judge.judge(turn, this.#parts.signal));
      this.#step({ type: "verdict", revision, finished });
    } catch (error) {
      // Silence ends the turn without a verdict.
      if (!this.#parts.signal.aborted) this.#deps.onFailure(error);
    }
  }

  #spanOf({ from, to }: SampleRange): AudioSpan {
    const { type, transcription } = this.#session.settings;
    const { language = null, prompt = null } = transcription ?? {};
    return { from, to, language, prompt, wantsPartials: type === "transcription" };
  }

  /** Meters a transcript without a reply as a request of its own, even if the key has no token left. */
  async #meterTurn(turn: ClaimedTurns): Promise<void> {
    const { meter, send, signal } = this.#parts;
    let context: RequestContext | null = null;
    try {
      context = await this.#begin("transcription", signal);
      await meter(turn.seconds);
      turn.markMetered();
      context.end();
    } catch (error) {
      const { code, message } = failureOf(context?.end(error) ?? toServiceError(error));
      if (!signal.aborted) send({ type: "error", error: { type: "server_error", code, message } });
    } finally {
      turn.release();
    }
  }

  #begin(what: "response" | "transcription", signal: AbortSignal): Promise<RequestContext> {
    const begun = this.#lastBegin.then(() => {
      signal.throwIfAborted();
      return this.#parts.begin(what, signal);
    });
    this.#lastBegin = begun.catch(() => {});
    return begun;
  }

  async #respond(request: ResponseRequest): Promise<void> {
    const { responseId } = request;
    let preparedText: AuthoredText | null = null;
    const controller = new AbortController();
    this.#replies.set(responseId, controller);
    const signal = AbortSignal.any([controller.signal, this.#parts.signal]);
    let context: RequestContext | null = null;
    try {
      context = await this.#begin("response", signal);
      const { keyId, span } = context.caller;
      // The history must contain what was played of earlier replies, which is final only now.
      preparedText = this.#prepared.take(request, signal);
      const end = await generateResponse(request, {
        service: this.#deps.service,
        resolve: this.#deps.resolve,
        model: this.#parts.model,
        turns: this.#turns,
        onDelta: (delta) => this.#step({ type: "response_delta", responseId, delta }),
        hasRoom: this.#parts.hasRoom,
        preparedText,
        keyId,
        span,
        signal,
      });
      context.end();
      this.#step({ type: "response_ended", responseId, end });
    } catch (error) {
      if (signal.aborted) {
        context?.leave("it was interrupted");
        return;
      }
      const failure = context?.end(error) ?? toServiceError(error);
      // A refused response never claimed its turns: meter them without a token.
      if (context === null) this.#turns.claim().release();
      this.#step({ type: "response_ended", responseId, end: failureOf(failure) });
    } finally {
      preparedText?.release();
      this.#replies.delete(responseId);
      this.#onIdle();
    }
  }

  #refuse({ message, code, param, eventId }: EventFault): void {
    const error = new RealtimeError(message, { code, ...(param === null ? {} : { param }) });
    this.#parts.send({ type: "error", error: errorPayload(error, eventId ?? undefined) });
  }
}

function failureOf(error: ServiceError): Extract<ResponseEnd, { type: "failed" }> {
  const code =
    error.status === 429 ? "rate_limit_exceeded" : error.status === 401 ? "invalid_api_key" : error.type;
  return { type: "failed", code, message: error.message };
}
