import type { ClientEvent, ResponseOptions } from "../contract/realtime/client-events.ts";
import {
  dropTurn,
  type EndpointEvent,
  type EndpointingState,
  hearVerdict,
  hearWindow,
  INITIAL_ENDPOINTING,
} from "./endpointing.ts";
import { type Item, Items, itemOf, type MessageItem } from "./items.ts";
import { RealtimeError } from "./realtime-error.ts";
import { type ReplyEnd, Response, type Spoken } from "./response.ts";
import {
  endpointingOptions,
  prefixMs,
  type SessionSettings,
  updated,
  wireSession,
  withDefaults,
} from "./session-settings.ts";
import { type ServerEvent, wireItem } from "./wire.ts";

/** Samples of a millisecond, at 16 kHz: what positions in the sound are counted in. */
const PER_MS = 16;
/** What is said in fewer samples is no turn of a client's own making: 100 ms. */
const MIN_COMMIT_SAMPLES = 100 * PER_MS;

/** What happens to a session. */
export type SessionEvent =
  /** `appended`: samples of sound that had come before the event, at 16 kHz. */
  | { readonly type: "client"; readonly event: ClientEvent; readonly appended: number }
  /** Probabilities of speech, a window each, in order. */
  | { readonly type: "windows"; readonly probabilities: readonly number[] }
  /** What the judge answered. */
  | { readonly type: "verdict"; readonly revision: number; readonly finished: number }
  /** What the recogniser heard; no text where it failed. */
  | {
      readonly type: "heard";
      readonly revision: number;
      readonly text: string | null;
      readonly seconds: number;
    }
  | { readonly type: "spoken"; readonly responseId: string; readonly spoken: Spoken }
  | { readonly type: "replied"; readonly responseId: string; readonly end: ReplyEnd }
  /** The time that {@link SessionEffect} `wake` named has come. */
  | { readonly type: "woken" };

/** What is to be done. */
export type SessionEffect =
  | { readonly type: "send"; readonly event: ServerEvent }
  /** Have that much of the sound recognised, unless it is superseded. */
  | { readonly type: "recognise"; readonly revision: number; readonly from: number; readonly to: number }
  | { readonly type: "judge"; readonly revision: number; readonly from: number; readonly to: number }
  /** A turn of so many seconds was committed, to be metered. */
  | { readonly type: "committed"; readonly seconds: number }
  /** Sound before that sample is needed no more. */
  | { readonly type: "forget"; readonly before: number }
  /** Speech is looked for anew, from what comes next on. */
  | { readonly type: "reset" }
  | { readonly type: "respond"; readonly request: ResponseRequest }
  | { readonly type: "cancel"; readonly responseId: string }
  /** At that time; `null`: never, instead of the one before. */
  | { readonly type: "wake"; readonly atMs: number | null };

/** What a reply is made from. */
export interface ResponseRequest {
  readonly responseId: string;
  /** Oldest first. */
  readonly items: readonly Item[];
  readonly settings: SessionSettings;
}

export interface SessionOptions {
  readonly settings: SessionSettings;
  /** A new id that begins so. */
  readonly newId: (prefix: string) => string;
}

/**
 * One conversation: what the client asked for, who speaks, what was said and heard, and what the reply is doing. It has no
 * clock, socket or timer of its own, so the same events at the same times always have the same effects.
 */
export class Session {
  readonly id: string;
  readonly #newId: SessionOptions["newId"];
  readonly #items = new Items();
  #settings: SessionSettings;
  #endpointing: EndpointingState = INITIAL_ENDPOINTING;
  /** The item that the turn which has begun will be. */
  #turnItemId: string | null = null;
  /** Sound before it has been committed or thrown away. */
  #takenUpTo = 0;
  /** Committed turns whose words are not known yet, by the revision that has them recognised. */
  readonly #unheard = new Map<number, string>();
  /** The newest words of a pause in the turn that goes on. */
  #draft: { readonly revision: number; readonly text: string; readonly seconds: number } | null = null;
  #asked = new Set<number>();
  /** Somebody has said something that nothing has answered yet. */
  #isOwed = false;
  /** The newest reply; it may be over and still be played. */
  #response: Response | null = null;
  #isResponding = false;
  /** Replies beside the conversation, which is not told of them. */
  readonly #beside = new Map<string, Response>();
  #hasSounded = false;
  #effects: SessionEffect[] = [];
  #nowMs = 0;

  constructor({ settings, newId }: SessionOptions) {
    this.#settings = settings;
    this.#newId = newId;
    this.id = newId("sess_");
  }

  get settings(): SessionSettings {
    return this.#settings;
  }

  get items(): readonly Item[] {
    return this.#items.all;
  }

  /** What a session begins with. */
  begin(): readonly SessionEffect[] {
    return this.#collected(() => this.#send("session.created", { session: this.#wire() }));
  }

  /** @param nowMs of a clock that never goes back */
  step(event: SessionEvent, nowMs: number): readonly SessionEffect[] {
    this.#nowMs = nowMs;
    return this.#collected(() => this.#step(event));
  }

  #collected(work: () => void): readonly SessionEffect[] {
    this.#effects = [];
    work();
    return this.#effects;
  }

  #step(event: SessionEvent): void {
    switch (event.type) {
      case "client":
        this.#clientEvent(event.event, event.appended);
        break;
      case "windows":
        for (const probability of event.probabilities) this.#window(probability);
        break;
      case "verdict":
        this.#verdict(event.revision, event.finished);
        break;
      case "heard":
        this.#heard(event);
        break;
      case "spoken":
        this.#spoken(event.responseId, event.spoken);
        break;
      case "replied":
        this.#replied(event.responseId, event.end);
        break;
      case "woken":
        this.#idle();
        break;
    }
  }

  #clientEvent(event: ClientEvent, appended: number): void {
    try {
      this.#client(event, appended);
    } catch (error) {
      if (!(error instanceof RealtimeError)) throw error;
      this.#send("error", { error: wireError(error, event.event_id) });
    }
  }

  #client(event: ClientEvent, appended: number): void {
    switch (event.type) {
      case "session.update":
        this.#settings = updated(this.#settings, event.session, this.#hasSounded);
        if (this.#settings.turnDetection === null) this.#dropTurn();
        this.#send("session.updated", { session: this.#wire() });
        break;
      case "input_audio_buffer.commit":
        this.#commit(appended);
        break;
      case "input_audio_buffer.clear":
        this.#dropTurn();
        this.#takenUpTo = appended;
        this.#effects.push({ type: "reset" }, { type: "forget", before: appended });
        this.#send("input_audio_buffer.cleared");
        break;
      case "conversation.item.create":
        this.#create(
          itemOf(event.item, () => this.#newId("item_")),
          event.previous_item_id ?? null,
        );
        break;
      case "conversation.item.retrieve":
        this.#send("conversation.item.retrieved", {
          item: wireItem(this.#items.get(event.item_id, "item_retrieve_invalid_item_id")),
        });
        break;
      case "conversation.item.truncate":
        this.#truncate(event);
        break;
      case "conversation.item.delete":
        this.#items.delete(event.item_id);
        this.#send("conversation.item.deleted", { item_id: event.item_id });
        break;
      case "response.create":
        this.#respond(event.response ?? {});
        break;
      case "response.cancel":
        this.#cancelByClient(event.response_id);
        break;
      case "input_audio_buffer.append":
      case "output_audio_buffer.clear":
        break;
    }
  }

  // ---- what is heard

  #window(probability: number): void {
    const { turnDetection } = this.#settings;
    if (turnDetection === null) return;
    const options = endpointingOptions(turnDetection, this.#isAudible);
    const { state, events } = hearWindow(this.#endpointing, probability, options);
    this.#endpointing = state;
    for (const event of events) this.#endpoint(event);
    if (state.beganAt === null && events.length === 0) this.#forgetQuiet();
  }

  #verdict(revision: number, finished: number): void {
    const { turnDetection } = this.#settings;
    if (turnDetection === null) return;
    const options = endpointingOptions(turnDetection, this.#isAudible);
    const { state, events } = hearVerdict(this.#endpointing, revision, finished, options);
    this.#endpointing = state;
    for (const event of events) this.#endpoint(event);
  }

  #endpoint(event: EndpointEvent): void {
    switch (event.type) {
      case "began": {
        this.#turnItemId = this.#newId("item_");
        const from = this.#turnFrom(event.at);
        this.#wake(null);
        this.#send("input_audio_buffer.speech_started", {
          audio_start_ms: Math.round(from / PER_MS),
          item_id: this.#turnItemId,
        });
        if (this.#detection().interrupt_response) this.#interrupt();
        break;
      }
      case "paused":
        this.#recognise(event.revision, this.#turnFrom(this.#endpointing.beganAt ?? event.at), event.at);
        break;
      case "judge":
        this.#effects.push({
          type: "judge",
          revision: event.revision,
          from: this.#turnFrom(this.#endpointing.beganAt ?? event.at),
          to: event.at + 150 * PER_MS,
        });
        break;
      case "resumed":
        break;
      case "ended":
        this.#ended(event.revision, event.at);
        break;
    }
  }

  #ended(revision: number, at: number): void {
    const itemId = this.#turnItemId ?? this.#newId("item_");
    this.#turnItemId = null;
    this.#send("input_audio_buffer.speech_stopped", {
      audio_end_ms: Math.round(at / PER_MS),
      item_id: itemId,
    });
    this.#committed(itemId, revision, at);
  }

  /** Sound up to there has become that item. Its words come later, or have come. */
  #committed(itemId: string, revision: number, to: number): void {
    const item: MessageItem = {
      id: itemId,
      type: "message",
      role: "user",
      status: "completed",
      text: null,
      medium: "audio",
      spoken: null,
    };
    const previous = this.#items.add(item);
    this.#send("input_audio_buffer.committed", { item_id: itemId, previous_item_id: previous });
    this.#sendItem(item, previous);
    this.#unheard.set(revision, itemId);
    if (!this.#asked.has(revision)) this.#recognise(revision, this.#takenUpTo, to);
    this.#effects.push({ type: "committed", seconds: Math.max(0, to - this.#takenUpTo) / (1_000 * PER_MS) });
    this.#takenUpTo = to;
    this.#asked.clear();
    const draft = this.#draft;
    this.#draft = null;
    if (draft?.revision === revision) this.#heard({ type: "heard", ...draft });
  }

  #commit(appended: number): void {
    if (appended - this.#takenUpTo < MIN_COMMIT_SAMPLES) {
      const ms = Math.floor((appended - this.#takenUpTo) / PER_MS);
      throw new RealtimeError(`the buffer holds ${ms} ms of sound, and a turn has at least 100 ms`, {
        code: "input_audio_buffer_commit_empty",
      });
    }
    const itemId = this.#turnItemId ?? this.#newId("item_");
    const { revision } = this.#endpointing;
    this.#dropTurn();
    this.#asked.delete(revision);
    this.#committed(itemId, revision, appended);
    this.#effects.push({ type: "reset" });
  }

  #recognise(revision: number, from: number, to: number): void {
    this.#asked.add(revision);
    this.#effects.push({ type: "recognise", revision, from, to });
  }

  #heard(heard: Extract<SessionEvent, { type: "heard" }>): void {
    const itemId = this.#unheard.get(heard.revision);
    if (itemId === undefined) {
      const isCurrent = this.#endpointing.beganAt !== null && heard.revision === this.#endpointing.revision;
      // What failed in a pause is tried again when the turn is over.
      if (heard.text === null) this.#asked.delete(heard.revision);
      else if (isCurrent) this.#draft = { ...heard, text: heard.text };
      return;
    }
    this.#unheard.delete(heard.revision);
    this.#effects.push({ type: "forget", before: this.#takenUpTo });
    const item = this.#items.all.find(({ id }) => id === itemId);
    if (item?.type === "message") this.#transcribed(item, heard);
    this.#answerWhatIsOwed();
  }

  #transcribed(item: MessageItem, { text, seconds }: { text: string | null; seconds: number }): void {
    const at = { item_id: item.id, content_index: 0 };
    const isTold = this.#settings.transcription !== null || this.#settings.type === "transcription";
    if (text === null) {
      item.text = "";
      const error = {
        type: "server_error",
        code: "transcription_failed",
        message: "the turn was not heard: say it again",
      };
      if (isTold) this.#send("conversation.item.input_audio_transcription.failed", { ...at, error });
      return;
    }
    item.text = text;
    if (isTold) {
      const told = "conversation.item.input_audio_transcription";
      if (text !== "") this.#send(`${told}.delta`, { ...at, delta: text });
      const usage = { type: "duration", seconds: Math.max(1, Math.round(seconds)) };
      this.#send(`${told}.completed`, { ...at, transcript: text, usage });
    }
    if (text === "") {
      this.#items.delete(item.id);
      this.#send("conversation.item.deleted", { item_id: item.id });
      return;
    }
    const { turnDetection } = this.#settings;
    if (turnDetection !== null && this.#detection().create_response) this.#isOwed = true;
  }

  /** A turn is answered once nobody speaks, and all that was said is known. */
  #answerWhatIsOwed(): void {
    const isBusy = this.#endpointing.beganAt !== null || this.#unheard.size > 0 || this.#isResponding;
    if (!this.#isOwed || isBusy || this.#settings.type === "transcription") return;
    this.#respond({});
  }

  #dropTurn(): void {
    this.#endpointing = dropTurn(this.#endpointing);
    this.#turnItemId = null;
    this.#draft = null;
    this.#asked.clear();
  }

  #turnFrom(beganAt: number): number {
    const from = beganAt - prefixMs(this.#settings.turnDetection) * PER_MS;
    return Math.max(this.#takenUpTo, from, 0);
  }

  /** Nobody speaks: of the sound only what may belong to the next turn is kept. */
  #forgetQuiet(): void {
    const before = this.#endpointing.windows * 512 - (prefixMs(this.#settings.turnDetection) + 320) * PER_MS;
    if (this.#endpointing.windows % 32 === 0 && before > 0 && this.#unheard.size === 0)
      this.#effects.push({ type: "forget", before });
  }

  // ---- items

  #create(item: Item, after: string | null): void {
    const previous = this.#items.add(item, after);
    this.#sendItem(item, previous);
  }

  #sendItem(item: Item, previous: string | null): void {
    const told = { previous_item_id: previous, item: wireItem(item) };
    this.#send("conversation.item.added", told);
    this.#send("conversation.item.done", told);
  }

  #truncate({
    item_id,
    content_index,
    audio_end_ms,
  }: Extract<ClientEvent, { type: "conversation.item.truncate" }>) {
    const item = this.#items.get(item_id, "item_truncate_invalid_item_id");
    if (item.type !== "message" || item.spoken === null) {
      throw new RealtimeError(`the item ${item_id} is no reply that was spoken`, {
        code: "item_truncate_invalid_item_id",
        param: "item_id",
      });
    }
    const heardMs = item.spoken.cutByClient(audio_end_ms);
    this.#send("conversation.item.truncated", { item_id, content_index, audio_end_ms: heardMs });
  }

  // ---- replies

  /** Whether a reply is heard, or will be: it is being made, or not played to its end. */
  get #isAudible(): boolean {
    return this.#isResponding || (this.#response !== null && this.#response.playedAtMs > this.#nowMs);
  }

  #respond(options: ResponseOptions): void {
    const isBeside = options.conversation === "none";
    if (this.#isResponding && !isBeside) {
      throw new RealtimeError("a reply is under way: wait for its response.done, or cancel it", {
        code: "conversation_already_has_active_response",
      });
    }
    const { instructions, output_modalities, max_output_tokens, tools, tool_choice } = options;
    const changes = { instructions, output_modalities, max_output_tokens, tools, tool_choice };
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const settings = updated(this.#settings, given, false);
    const items = options.input?.map((item) => itemOf(item, () => this.#newId("item_"))) ?? [
      ...this.#items.all,
    ];
    const response = new Response({
      id: this.#newId("resp_"),
      itemId: this.#newId("item_"),
      settings,
      conversationId: isBeside ? null : `conv_${this.id.slice(5)}`,
      metadata: options.metadata,
      playedBeforeMs: isBeside ? 0 : (this.#response?.playedAtMs ?? 0),
      send: (event) => this.#effects.push({ type: "send", event }),
      add: (item) => (isBeside ? null : this.#items.add(item)),
    });
    if (isBeside) {
      this.#beside.set(response.id, response);
    } else {
      this.#isOwed = false;
      this.#isResponding = true;
      this.#response = response;
      this.#wake(null);
    }
    response.begin();
    this.#effects.push({ type: "respond", request: { responseId: response.id, items, settings } });
  }

  #responseOf(id: string): Response | null {
    if (this.#isResponding && this.#response?.id === id) return this.#response;
    return this.#beside.get(id) ?? null;
  }

  #spoken(responseId: string, spoken: Spoken): void {
    const response = this.#responseOf(responseId);
    if (response === null) return;
    if (spoken.sound !== null) this.#hasSounded = true;
    response.say(spoken, this.#nowMs);
  }

  #replied(responseId: string, end: ReplyEnd): void {
    const response = this.#responseOf(responseId);
    if (response === null) return;
    this.#over(response);
    response.end(end);
    if (response === this.#response) this.#afterReply(response);
  }

  #over(response: Response): void {
    if (response === this.#response) this.#isResponding = false;
    else this.#beside.delete(response.id);
  }

  #afterReply(response: Response): void {
    const { turnDetection } = this.#settings;
    const idleMs = turnDetection?.type === "server_vad" ? turnDetection.idle_timeout_ms : null;
    const isQuiet = this.#endpointing.beganAt === null;
    if (idleMs !== null && idleMs !== undefined && isQuiet)
      this.#wake(Math.max(this.#nowMs, response.playedAtMs) + idleMs);
    this.#answerWhatIsOwed();
  }

  /** Somebody speaks into a reply: it ends, and what was not heard of it was not said. */
  #interrupt(): void {
    const response = this.#response;
    if (response === null) return;
    if (this.#isResponding) this.#cancel(response, "turn_detected");
    else response.cut(this.#nowMs);
  }

  #cancel(response: Response, reason: "turn_detected" | "client_cancelled"): void {
    this.#over(response);
    this.#effects.push({ type: "cancel", responseId: response.id });
    response.cut(this.#nowMs);
    response.end({ type: "cancelled", reason });
  }

  #cancelByClient(id: string | undefined): void {
    const response = id === undefined ? this.#active : this.#responseOf(id);
    if (response === null) {
      throw new RealtimeError("Cancellation failed: no active response found", {
        code: "response_cancel_not_active",
      });
    }
    this.#cancel(response, "client_cancelled");
    this.#answerWhatIsOwed();
  }

  get #active(): Response | null {
    return this.#isResponding ? this.#response : null;
  }

  /** Nobody has said anything since the reply was played. */
  #idle(): void {
    if (this.#isResponding || this.#endpointing.beganAt !== null) return;
    const itemId = this.#newId("item_");
    const endMs = Math.round((this.#endpointing.windows * 512) / PER_MS);
    const startMs = Math.round(this.#takenUpTo / PER_MS);
    this.#send("input_audio_buffer.timeout_triggered", {
      audio_start_ms: Math.min(startMs, endMs),
      audio_end_ms: endMs,
      item_id: itemId,
    });
    this.#respond({});
  }

  // ---- what is sent

  #detection() {
    const { turnDetection } = this.#settings;
    return turnDetection === null
      ? { create_response: false, interrupt_response: false }
      : withDefaults(turnDetection);
  }

  #wake(atMs: number | null): void {
    this.#effects.push({ type: "wake", atMs });
  }

  #wire(): Record<string, unknown> {
    return wireSession(this.#settings, this.id);
  }

  #send(type: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#effects.push({ type: "send", event: { type, ...fields } });
  }
}

/** An error as its event tells it: what is unknown is left out, since one client takes no `null`. */
export function wireError(error: RealtimeError, eventId?: string): Record<string, unknown> {
  const { type, code, param, message } = error;
  return {
    type,
    message,
    ...(code === null ? {} : { code }),
    ...(param === null ? {} : { param }),
    ...(eventId === undefined ? {} : { event_id: eventId }),
  };
}
