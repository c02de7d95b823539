import type { ClientEvent, ResponseOptions } from "../../contract/realtime/client-events.ts";
import { type Item, Items, itemOf, wireItem } from "./conversation-items.ts";
import { RealtimeError, wireError } from "./realtime-error.ts";
import type { ReplyEnd } from "./response.ts";
import { Replies } from "./responses.ts";
import type { SessionEffect, SessionEvent } from "./session-events.ts";
import { type SessionSettings, updated, wireSession } from "./session-settings.ts";
import { PER_MS } from "./turn-detector.ts";
import { Turns } from "./user-turns.ts";

export interface SessionOptions {
  readonly settings: SessionSettings;
  /** A new id that begins so. */
  readonly newId: (prefix: string) => string;
  /** Whether functions that a client gives may be called; absent: no. */
  readonly callsTools?: () => boolean;
}

/** Milliseconds after which a session that was behind with its input looks for silence again. */
const BEHIND_MS = 100;

/**
 * One conversation: what the client asked for, who speaks, what was said and heard, and what the reply is doing. It has no
 * clock, socket or timer of its own, so the same events at the same times always have the same effects.
 */
export class Session {
  readonly id: string;
  readonly #newId: SessionOptions["newId"];
  readonly #callsTools: () => boolean;
  readonly #items = new Items();
  #settings: SessionSettings;
  /** Somebody has said something that nothing has answered yet. */
  #isOwed = false;
  /** Samples that had come when sound was appended last. */
  #appended = 0;
  /** When silence is answered, and what was asked to be woken at. */
  #idleAtMs: number | null = null;
  #wakeAtMs: number | null = null;
  readonly #turns: Turns;
  readonly #replies: Replies;
  #effects: SessionEffect[] = [];
  #nowMs = 0;

  constructor({ settings, newId, callsTools = () => false }: SessionOptions) {
    this.#callsTools = callsTools;
    this.#settings = settings;
    this.#newId = newId;
    this.id = newId("sess_");
    this.#replies = new Replies({
      conversationId: `conv_${this.id.slice(5)}`,
      newId,
      settings: () => this.#settings,
      items: () => this.#items.all,
      add: (item) => this.#addOwn(item),
      nowMs: () => this.#nowMs,
      do: (effect) => this.#effects.push(effect),
    });
    this.#turns = new Turns({
      newId,
      settings: () => this.#settings,
      nowMs: () => this.#nowMs,
      replies: this.#replies,
      add: (item, tell) => {
        const previous = this.#addOwn(item);
        tell(previous);
        this.#sendItem(item, previous);
      },
      find: (id) => this.#items.message(id),
      delete: (id) => this.#delete(id),
      send: (type, fields) => this.#send(type, fields),
      do: (effect) => this.#effects.push(effect),
      began: () => {
        this.#idleAtMs = null;
      },
      said: () => {
        this.#isOwed = true;
      },
      heard: () => this.#answerWhatIsOwed(),
    });
  }

  get settings(): SessionSettings {
    return this.#settings;
  }

  /**
   * Windows that may be heard together, which costs less than one by one: no more than there are until a turn may end,
   * and a few where all that comes later is word of its beginning; one where a reply is about to begin, which it should
   * not if its user goes on.
   */
  get windowsTogether(): number {
    const { options, sound } = this.#turns;
    if (options !== null && sound.isInTurn) return Math.min(4, sound.windowsToNext(options));
    if (options !== null && this.#isAboutToReply) return 1;
    return this.#replies.isAudible ? 2 : 4;
  }

  get items(): readonly Item[] {
    return this.#items.all;
  }

  /** Whether what was said is being transcribed, or a reply to it is being made or due. */
  get isAnswering(): boolean {
    if (!this.#turns.isHeardOut) return true;
    return this.#settings.type !== "transcription" && (this.#isOwed || this.#replies.isResponding);
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
    this.#arm();
    return this.#effects;
  }

  #step(event: SessionEvent): void {
    switch (event.type) {
      case "client":
        this.#clientEvent(event.event, event.appended);
        break;
      case "windows":
        this.#turns.sound.windows(event.probabilities, event.from);
        this.#release();
        break;
      case "verdict":
        this.#turns.sound.verdict(event.revision, event.finished);
        break;
      case "heard":
        this.#turns.hear(event);
        break;
      case "partly":
        this.#turns.partly(event.from, event.text);
        break;
      case "spoken":
        this.#replies.say(event.responseId, event.spoken, this.#mayGoOn);
        break;
      case "replied":
        this.#replied(event.responseId, event.end);
        break;
      case "woken":
        this.#woken(event.isBehind);
        break;
    }
    this.#beginWaiting();
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
        this.#update(event.session, appended);
        break;
      case "input_audio_buffer.commit":
        this.#turns.commit(appended);
        break;
      case "input_audio_buffer.clear":
        this.#discard(appended);
        this.#turns.sound.forgetBefore(appended);
        this.#send("input_audio_buffer.cleared");
        break;
      case "conversation.item.create":
        this.#create(event);
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
        this.#delete(event.item_id);
        break;
      case "response.create":
        this.#respond(event.response ?? {});
        break;
      case "response.cancel":
        this.#replies.cancelByClient(event.response_id);
        this.#answerWhatIsOwed();
        break;
      case "input_audio_buffer.append":
        // One without a sample is none.
        if (appended > this.#appended) this.#turns.sound.soundCame();
        this.#appended = appended;
        break;
      case "output_audio_buffer.clear":
        break;
    }
  }

  #update(update: Extract<ClientEvent, { type: "session.update" }>["session"], appended: number): void {
    const before = this.#settings.turnDetection;
    this.#settings = updated(this.#settings, update, this.#replies.hasSounded);
    const { turnDetection } = this.#settings;
    // Where nothing was detected, nothing is known of the sound so far.
    if ((before === null) !== (turnDetection === null)) this.#discard(appended);
    this.#send("session.updated", { session: this.#wire() });
  }

  #discard(appended: number): void {
    this.#turns.restart(appended);
    this.#effects.push({ type: "discarded" });
  }

  /** A turn is answered once nobody speaks, and all that was said is known. */
  #answerWhatIsOwed(): void {
    const isBusy = this.#turns.isOpen || this.#replies.isResponding;
    if (!this.#isOwed || isBusy || this.#settings.type === "transcription") return;
    this.#respond({}, this.#turns.spokeUntilMs);
  }

  // ---- items

  #create({
    item: given,
    previous_item_id: after = null,
  }: Extract<ClientEvent, { type: "conversation.item.create" }>): void {
    const item = itemOf(given, () => this.#newId("item_"));
    this.#sendItem(item, this.#add(item, after));
  }

  /** What had to be forgotten for it is told as deleted. Returns the id of the item before it. */
  #add(item: Item, after: string | null): string | null {
    const { previous, forgotten } = this.#items.add(item, after);
    for (const item_id of forgotten) this.#send("conversation.item.deleted", { item_id });
    return previous;
  }

  /** An item of the session's own, whose id was told before: whoever has given it to another has that deleted. */
  #addOwn(item: Item): string | null {
    if (this.#items.has(item.id)) this.#delete(item.id);
    return this.#add(item, null);
  }

  /** @throws RealtimeError where there is none */
  #delete(itemId: string): void {
    this.#items.delete(itemId);
    this.#send("conversation.item.deleted", { item_id: itemId });
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

  #respond(options: ResponseOptions, spokeUntilMs: number | null = null): void {
    const { isHeardOut, isTaken } = this.#turns;
    const isBeside = this.#replies.create(options, { spokeUntilMs, isHeardOut, isTaken });
    if (isBeside) return;
    this.#isOwed = false;
    this.#idleAtMs = null;
  }

  /** Once nobody speaks and all that was said is known, the replies that were asked for meanwhile answer it. */
  #beginWaiting(): void {
    if (this.#replies.beginWaiting(this.#turns)) this.#isOwed = false;
  }

  get #isAboutToReply(): boolean {
    return (this.#replies.isResponding || !this.#turns.isHeardOut) && !this.#replies.isHeard;
  }

  /** Whoever spoke last has hardly ended, or somebody may just begin. */
  get #mayGoOn(): boolean {
    return this.#nowMs < this.#turns.quietUntilMs || this.#turns.mayBegin;
  }

  /** What was held back of a reply is heard once nobody begins to speak, or no window comes that would tell. */
  #release(): void {
    if (this.#replies.isHeldBack && !this.#mayGoOn && this.#replies.release()) this.#afterReply();
  }

  #replied(responseId: string, end: ReplyEnd): void {
    if (this.#replies.end(responseId, end)) this.#afterReply();
  }

  #afterReply(): void {
    const idleMs = this.#idleMs;
    if (idleMs !== null && !this.#turns.sound.isInTurn)
      this.#idleAtMs = Math.max(this.#nowMs, this.#replies.playedAtMs) + idleMs;
    this.#answerWhatIsOwed();
  }

  #woken(isBehind: boolean): void {
    this.#wakeAtMs = null;
    // Input not yet analysed is not silence.
    if (isBehind) {
      this.#turns.sound.soundCame();
      if (this.#idleAtMs !== null) this.#idleAtMs = Math.max(this.#idleAtMs, this.#nowMs + BEHIND_MS);
    }
    this.#release();
    if (this.#turns.sound.isInTurn) this.#turns.sound.hearMuted();
    else if (this.#idleAtMs !== null && this.#nowMs >= this.#idleAtMs) this.#idle();
  }

  /** Asks to be woken when something is due; earlier is harmless. */
  #arm(): void {
    const { sound, quietUntilMs, mayBegin } = this.#turns;
    const isOpen = sound.isInTurn && this.#settings.turnDetection !== null;
    const dueMs = isOpen
      ? sound.mutedAtMs
      : this.#replies.isHeldBack
        ? Math.max(quietUntilMs, mayBegin ? sound.staleAtMs : 0)
        : this.#idleAtMs;
    if (dueMs === this.#wakeAtMs) return;
    if (dueMs !== null && this.#wakeAtMs !== null && this.#wakeAtMs <= dueMs) return;
    this.#wakeAtMs = dueMs;
    this.#effects.push({ type: "wake", atMs: dueMs });
  }

  /** Silence that is answered, where the session wants that. */
  get #idleMs(): number | null {
    const { turnDetection } = this.#settings;
    return turnDetection?.type === "server_vad" ? (turnDetection.idle_timeout_ms ?? null) : null;
  }

  /** Nobody has said anything since the reply was played. */
  #idle(): void {
    this.#idleAtMs = null;
    const idleMs = this.#idleMs;
    if (idleMs === null || this.#replies.isResponding || this.#settings.type === "transcription") return;
    const endMs = Math.round(this.#turns.sound.samples / PER_MS);
    this.#send("input_audio_buffer.timeout_triggered", {
      audio_start_ms: Math.max(0, endMs - idleMs),
      audio_end_ms: endMs,
      item_id: this.#newId("item_"),
    });
    this.#respond({});
  }

  // ---- what is sent

  #wire(): Record<string, unknown> {
    return wireSession(this.#settings, this.id, this.#callsTools());
  }

  #send(type: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#effects.push({ type: "send", event: { type, ...fields } });
  }
}
