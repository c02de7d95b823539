import type { ClientEvent, ResponseOptions } from "../../contract/realtime/client-events.ts";
import { type ConversationItem, ConversationItems, spokenTurn } from "./conversation-items.ts";
import type { SendEvent } from "./realtime-dialect.ts";
import { errorPayload, RealtimeError } from "./realtime-error.ts";
import type { ResponseEnd } from "./realtime-response.ts";
import { Responses } from "./responses.ts";
import type { SessionContext, SessionEffect, SessionEvent } from "./session-events.ts";
import { type SessionSettings, sessionPayload, updateSettings } from "./session-settings.ts";
import { SAMPLES_PER_MS } from "./turn-detector.ts";
import { UserTurns } from "./user-turns.ts";

export interface SessionOptions {
  readonly settings: SessionSettings;
  readonly newId: (prefix: string) => string;
  /** Returns whether clients may supply functions. Default: no. */
  readonly callsTools?: () => boolean;
}

/** Milliseconds before the silence check runs again after input was queued. */
const BEHIND_MS = 100;

/**
 * One conversation as a deterministic state machine: the same events at the same times give the same effects. It has
 * no clock, socket or timer.
 */
export class RealtimeSession {
  readonly id: string;
  readonly #newId: SessionOptions["newId"];
  readonly #callsTools: () => boolean;
  readonly #items: ConversationItems;
  #settings: SessionSettings;
  #isReplyOwed = false;
  #appendedSamples = 0;
  /** Due times in milliseconds: of the reply to silence, and of the timer last requested. */
  #idleTimeoutAtMs: number | null = null;
  #timerAtMs: number | null = null;
  readonly #turns: UserTurns;
  readonly #responses: Responses;
  #effects: SessionEffect[] = [];
  #nowMs = 0;

  constructor({ settings, newId, callsTools = () => false }: SessionOptions) {
    this.#callsTools = callsTools;
    this.#settings = settings;
    this.#newId = newId;
    this.id = newId("sess_");
    const send: SendEvent = (type, fields) => this.#send(type, fields);
    this.#items = new ConversationItems(newId, send);
    const context: SessionContext = {
      newId,
      settings: () => this.#settings,
      nowMs: () => this.#nowMs,
      items: this.#items,
      do: (effect) => this.#effects.push(effect),
      send,
    };
    this.#responses = new Responses(context, `conv_${this.id.slice(5)}`);
    this.#turns = new UserTurns(context, {
      responses: this.#responses,
      onSpeechStarted: () => {
        this.#idleTimeoutAtMs = null;
      },
      onReplyOwed: () => {
        this.#isReplyOwed = true;
      },
      onLikelyEnd: (text) => this.#prepareReply(text),
      onTranscribed: () => this.#answerIfOwed(),
    });
  }

  get settings(): SessionSettings {
    return this.#settings;
  }

  /**
   * Maximum windows per detector call. Larger batches cost less, but must not delay the end of a turn, a barge-in or
   * a reply that is about to start.
   */
  get maxDetectionWindows(): number {
    const { options, detector } = this.#turns;
    if (options !== null && detector.isInTurn) return Math.min(2, detector.windowsToNext(options));
    if (options !== null && this.#isReplyDue) return 1;
    return this.#responses.isRespondingOrPlaying ? 2 : 4;
  }

  get items(): readonly ConversationItem[] {
    return this.#items.all;
  }

  /** Returns whether a turn is being transcribed, or a reply to it is due or in progress. */
  get isAnswering(): boolean {
    if (!this.#turns.isTranscribed) return true;
    return this.#settings.type !== "transcription" && (this.#isReplyOwed || this.#responses.isResponding);
  }

  begin(): readonly SessionEffect[] {
    return this.#collectEffects(() => this.#send("session.created", { session: this.#payload() }));
  }

  /** @param nowMs milliseconds of a monotonic clock */
  step(event: SessionEvent, nowMs: number): readonly SessionEffect[] {
    this.#nowMs = nowMs;
    return this.#collectEffects(() => this.#step(event));
  }

  #collectEffects(work: () => void): readonly SessionEffect[] {
    this.#effects = [];
    work();
    this.#setTimer();
    return this.#effects;
  }

  #step(event: SessionEvent): void {
    switch (event.type) {
      case "client_event":
        this.#onClientEvent(event.event, event.appended);
        break;
      case "speech_probabilities":
        this.#turns.detector.addProbabilities(event.probabilities, event.from);
        this.#releaseHeldBack();
        break;
      case "verdict":
        this.#turns.detector.addVerdict(event.revision, event.finished);
        break;
      case "transcript":
        this.#turns.addTranscript(event);
        break;
      case "partial_transcript":
        this.#turns.addPartialTranscript(event);
        break;
      case "response_delta":
        this.#responses.append(event.responseId, event.delta, this.#turns.mayStart);
        break;
      case "response_ended":
        this.#responseEnded(event.responseId, event.end);
        break;
      case "timer":
        this.#onTimer(event.isBehind);
        break;
    }
    this.#beginPending();
  }

  #onClientEvent(event: ClientEvent, appended: number): void {
    try {
      this.#handleClientEvent(event, appended);
    } catch (error) {
      if (!(error instanceof RealtimeError)) throw error;
      this.#send("error", { error: errorPayload(error, event.event_id) });
    }
  }

  #handleClientEvent(event: ClientEvent, appended: number): void {
    switch (event.type) {
      case "session.update":
        this.#update(event.session, appended);
        break;
      case "input_audio_buffer.commit":
        this.#turns.commit(appended);
        break;
      case "input_audio_buffer.clear":
        this.#turns.detector.forgetBefore(appended);
        this.#send("input_audio_buffer.cleared");
        this.#discard(appended);
        break;
      case "conversation.item.create":
        this.#items.create(event);
        break;
      case "conversation.item.retrieve":
        this.#items.retrieve(event.item_id);
        break;
      case "conversation.item.truncate":
        this.#items.truncate(event);
        break;
      case "conversation.item.delete":
        this.#items.delete(event.item_id);
        break;
      case "response.create":
        this.#respond(event.response ?? {});
        break;
      case "response.cancel":
        this.#responses.cancelByClient(event.response_id);
        this.#answerIfOwed();
        break;
      case "input_audio_buffer.append":
        // An append without samples does not count as audio.
        if (appended > this.#appendedSamples) this.#turns.detector.audioReceived();
        this.#appendedSamples = appended;
        break;
      case "output_audio_buffer.clear":
        break;
    }
  }

  #update(update: Extract<ClientEvent, { type: "session.update" }>["session"], appended: number): void {
    const before = this.#settings.turnDetection;
    this.#settings = updateSettings(this.#settings, update, this.#responses.hasSentAudio);
    const { turnDetection } = this.#settings;
    this.#send("session.updated", { session: this.#payload() });
    // The audio buffered while detection was off was never analysed.
    if ((before === null) !== (turnDetection === null)) this.#discard(appended);
  }

  #discard(appended: number): void {
    this.#turns.restart(appended);
    this.#effects.push({ type: "turn_discarded" });
    this.#answerIfOwed();
  }

  /** Answers once the user is silent and every turn is transcribed. */
  #answerIfOwed(): void {
    const isBusy = this.#turns.hasOpenTurn || this.#responses.isResponding;
    if (!this.#isReplyOwed || isBusy || this.#settings.type === "transcription") return;
    this.#respond({}, this.#turns.speechEndMs);
  }

  #prepareReply(text: string): void {
    if (this.#settings.type === "transcription" || this.#responses.isRespondingOrPlaying) return;
    const items = [...this.#items.all, spokenTurn("", text)];
    this.#effects.push({ type: "prepare", request: { responseId: "", items, settings: this.#settings } });
  }

  #respond(options: ResponseOptions, speechEndMs: number | null = null): void {
    const { isTranscribed, isUserSpeaking } = this.#turns;
    if (this.#responses.create(options, { speechEndMs, isTranscribed, isUserSpeaking })) return;
    this.#isReplyOwed = false;
    this.#idleTimeoutAtMs = null;
  }

  #beginPending(): void {
    if (this.#responses.beginPending(this.#turns)) this.#isReplyOwed = false;
  }

  get #isReplyDue(): boolean {
    return (this.#responses.isResponding || !this.#turns.isTranscribed) && !this.#responses.isPlaying;
  }

  /** Sends the held-back audio once the user has not continued. */
  #releaseHeldBack(): void {
    if (this.#responses.isHeldBack && !this.#turns.mayStart && this.#responses.release())
      this.#afterResponse();
  }

  #responseEnded(responseId: string, end: ResponseEnd): void {
    if (this.#responses.end(responseId, end)) this.#afterResponse();
  }

  #afterResponse(): void {
    const idleMs = this.#idleMs;
    if (idleMs !== null && !this.#turns.detector.isInTurn)
      this.#idleTimeoutAtMs = Math.max(this.#nowMs, this.#responses.playbackEndMs) + idleMs;
    this.#answerIfOwed();
  }

  #onTimer(isBehind: boolean): void {
    this.#timerAtMs = null;
    // Input that is not yet analysed is not silence.
    if (isBehind) {
      this.#turns.detector.audioReceived();
      if (this.#idleTimeoutAtMs !== null)
        this.#idleTimeoutAtMs = Math.max(this.#idleTimeoutAtMs, this.#nowMs + BEHIND_MS);
    }
    this.#releaseHeldBack();
    if (this.#turns.detector.isInTurn) this.#turns.detector.advanceMuted();
    else if (this.#idleTimeoutAtMs !== null && this.#nowMs >= this.#idleTimeoutAtMs) this.#onIdleTimeout();
  }

  /** Requests a timer for whatever is due next. An early timer is harmless. */
  #setTimer(): void {
    const { detector } = this.#turns;
    const isOpen = detector.isInTurn && this.#settings.turnDetection !== null;
    const dueMs = isOpen
      ? detector.mutedAtMs
      : this.#responses.isHeldBack
        ? detector.staleAtMs
        : this.#idleTimeoutAtMs;
    if (dueMs === this.#timerAtMs) return;
    if (dueMs !== null && this.#timerAtMs !== null && this.#timerAtMs <= dueMs) return;
    this.#timerAtMs = dueMs;
    this.#effects.push({ type: "set_timer", atMs: dueMs });
  }

  get #idleMs(): number | null {
    const { turnDetection } = this.#settings;
    return turnDetection?.type === "server_vad" ? (turnDetection.idle_timeout_ms ?? null) : null;
  }

  /** Starts a reply after the silence of `idle_timeout_ms`. */
  #onIdleTimeout(): void {
    this.#idleTimeoutAtMs = null;
    const idleMs = this.#idleMs;
    if (idleMs === null || this.#responses.isResponding || this.#settings.type === "transcription") return;
    const endMs = Math.round(this.#turns.detector.analysedSamples / SAMPLES_PER_MS);
    this.#send("input_audio_buffer.timeout_triggered", {
      audio_start_ms: Math.max(0, endMs - idleMs),
      audio_end_ms: endMs,
      item_id: this.#newId("item_"),
    });
    this.#respond({});
  }

  #payload(): Record<string, unknown> {
    return sessionPayload(this.#settings, this.id, this.#callsTools());
  }

  #send(type: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#effects.push({ type: "send", event: { type, ...fields } });
  }
}
