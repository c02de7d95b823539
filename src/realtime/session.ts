import type { ClientEvent, ResponseOptions } from "../contract/realtime/client-events.ts";
import { WINDOW_SAMPLES } from "../model/turn-detection.ts";
import {
  dropTurn,
  type EndpointEvent,
  type EndpointingState,
  hearSilence,
  hearVerdict,
  hearWindow,
  INITIAL_ENDPOINTING,
  MAX_TURN_SAMPLES,
  silenceToNext,
} from "./endpointing.ts";
import { type Item, Items, itemOf, type MessageItem } from "./items.ts";
import { RealtimeError } from "./realtime-error.ts";
import { Replies } from "./replies.ts";
import type { ReplyEnd } from "./response.ts";
import type { SessionEffect, SessionEvent } from "./session-events.ts";
import {
  endpointingOptions,
  minInterruptionWords,
  minReplySilenceMs,
  prefixMs,
  type SessionSettings,
  updated,
  wireSession,
  withDefaults,
} from "./session-settings.ts";
import { wireError, wireItem } from "./wire.ts";

/** Samples of a millisecond, at 16 kHz: what positions in the sound are counted in. */
const PER_MS = 16;
/** What is said in fewer samples is no turn of a client's own making: 100 ms. */
const MIN_COMMIT_SAMPLES = 100 * PER_MS;
/** Who is muted sends nothing: after so long without sound, what is missing of a turn is silence. */
const MUTED_MS = 750;
const WINDOW_MS = WINDOW_SAMPLES / PER_MS;
/** After 5 s of clear quiet the detector begins anew: noise over minutes makes it slow to find speech. */
const CLEAR_WINDOWS = 156;
const CLEAR = 0.1;
/** A window that came longer ago says nothing of now. */
const STALE_MS = 150;
/** The judge hears so much of the pause: smart-turn v3 is best with 0.1 to 0.2 s of silence, and errs with more or none. */
const JUDGED_SILENCE_MS = 150;
/** What is kept before the prefix of a turn that may begin: twice the 160 ms of speech that a beginning may take. */
const ONSET_MS = 320;
/** Between turns sound is forgotten about once a second, and not with every window. */
const FORGET_EVERY_WINDOWS = 32;

/** A turn from its beginning to its end. */
interface Turn {
  /** Of the item that it will be. */
  readonly itemId: string;
  /** Its first sample. */
  readonly from: number;
  /** Whether it is not known yet that it interrupts a reply: nothing is told of it meanwhile. */
  isHeld: boolean;
}

export interface SessionOptions {
  readonly settings: SessionSettings;
  /** A new id that begins so. */
  readonly newId: (prefix: string) => string;
  /** Whether functions that a client gives may be called; absent: no. */
  readonly callsTools?: () => boolean;
}

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
  #endpointing: EndpointingState = INITIAL_ENDPOINTING;
  /** That has begun. */
  #turn: Turn | null = null;
  /** Turns that are over and have interrupted nothing so far, by the revision whose words decide that. */
  readonly #undecided = new Map<number, Turn & { readonly to: number }>();
  /** The first sample of the buffer: what came before is committed, thrown away or forgotten. */
  #bufferFrom = 0;
  /** Committed turns whose words are not known yet, by the revision that has them recognised. */
  readonly #unheard = new Map<number, string>();
  /** The newest words of a pause in the turn that goes on. */
  #draft: { readonly revision: number; readonly text: string; readonly seconds: number } | null = null;
  #asked = new Set<number>();
  /** Somebody has said something that nothing has answered yet. */
  #isOwed = false;
  /** Samples that had come when sound was appended last. */
  #appended = 0;
  /** When sound came last, and windows that were taken for silence since. */
  #soundAtMs = 0;
  #silentWindows = 0;
  /** When the newest window came, or was taken for silence. */
  #windowAtMs = 0;
  /** Windows outside of turns, and those of them on end that are clearly quiet. */
  #quietWindows = 0;
  #clearWindows = 0;
  /** When the newest turn's speech ended. */
  #spokeUntilMs: number | null = null;
  /** No reply begins before: whoever only paused may go on. */
  #quietUntilMs = 0;
  /** When silence is answered, and what was asked to be woken at. */
  #idleAtMs: number | null = null;
  #wakeAtMs: number | null = null;
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
    const { beganAt, silence } = this.#endpointing;
    const options = this.#options();
    if (options !== null && beganAt === null && this.#isAboutToReply) return 1;
    if (beganAt === null || options === null) return this.#replies.isAudible ? 2 : 4;
    return silence === 0 ? 4 : Math.min(4, silenceToNext(this.#endpointing, options));
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
    this.#arm();
    return this.#effects;
  }

  #step(event: SessionEvent): void {
    switch (event.type) {
      case "client":
        this.#clientEvent(event.event, event.appended);
        break;
      case "windows":
        this.#soundCame();
        this.#windowAtMs = this.#nowMs;
        for (const [at, probability] of event.probabilities.entries())
          this.#window(probability, event.from + (at + 1) * WINDOW_SAMPLES);
        this.#release();
        break;
      case "verdict":
        this.#verdict(event.revision, event.finished);
        break;
      case "heard":
        this.#heard(event);
        break;
      case "partly":
        if (event.from === this.#turn?.from) this.#mayInterrupt(event.text);
        break;
      case "spoken":
        this.#replies.say(event.responseId, event.spoken, this.#mayGoOn);
        break;
      case "replied":
        this.#replied(event.responseId, event.end);
        break;
      case "woken":
        this.#woken();
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
        this.#update(event.session, appended);
        break;
      case "input_audio_buffer.commit":
        this.#commit(appended);
        break;
      case "input_audio_buffer.clear":
        this.#listenAnew(appended);
        this.#forgetBefore(appended);
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
        this.#items.delete(event.item_id);
        this.#send("conversation.item.deleted", { item_id: event.item_id });
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
        if (appended > this.#appended) this.#soundCame();
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
    if ((before === null) !== (turnDetection === null)) this.#listenAnew(appended);
    this.#send("session.updated", { session: this.#wire() });
  }

  // ---- what is heard

  #window(probability: number, samples: number): void {
    const options = this.#options();
    if (options === null) return;
    const { state, events } = hearWindow(this.#endpointing, probability, options, samples);
    this.#endpointing = state;
    for (const event of events) this.#endpoint(event);
    if (state.beganAt === null && events.length === 0) this.#quiet(probability);
  }

  #verdict(revision: number, finished: number): void {
    const options = this.#options();
    if (options === null) return;
    const { state, events } = hearVerdict(this.#endpointing, revision, finished, options);
    this.#endpointing = state;
    for (const event of events) this.#endpoint(event);
  }

  #options() {
    const { turnDetection } = this.#settings;
    if (turnDetection === null) return null;
    return endpointingOptions(turnDetection, this.#replies.isHeard, this.#turn?.isHeld);
  }

  get #isAboutToReply(): boolean {
    return (this.#replies.isResponding || this.#unheard.size > 0) && !this.#replies.isHeard;
  }

  #soundCame(): void {
    this.#soundAtMs = this.#nowMs;
    this.#silentWindows = 0;
  }

  #endpoint(event: EndpointEvent): void {
    switch (event.type) {
      case "began":
        this.#began(event.at);
        break;
      case "speaking":
        if (this.#turn !== null) this.#effects.push({ type: "draft", from: this.#turn.from, to: event.at });
        break;
      case "paused":
        this.#recognise(event.revision, this.#turn?.from ?? event.at, event.at);
        break;
      case "judge":
        this.#effects.push({
          type: "judge",
          revision: event.revision,
          from: this.#turn?.from ?? event.at,
          to: event.at + JUDGED_SILENCE_MS * PER_MS,
        });
        break;
      case "ended":
        this.#spokeUntilMs = this.#windowAtMs - event.silence * WINDOW_MS;
        this.#quietUntilMs = this.#spokeUntilMs + minReplySilenceMs(this.#settings.turnDetection);
        this.#ended(event.revision, event.at);
        break;
    }
  }

  #began(at: number): void {
    const before = at - prefixMs(this.#settings.turnDetection) * PER_MS;
    const from = Math.max(this.#bufferFrom, before, 0);
    const mayInterrupt = this.#detection().interrupt_response && this.#replies.isAudible;
    const isHeld = mayInterrupt && minInterruptionWords(this.#settings.turnDetection) > 0;
    this.#turn = { itemId: this.#newId("item_"), from, isHeld };
    this.#idleAtMs = null;
    this.#quietWindows = 0;
    this.#clearWindows = 0;
    if (!isHeld) this.#tellBegun(this.#turn);
  }

  #tellBegun({ itemId, from }: Turn): void {
    this.#send("input_audio_buffer.speech_started", {
      audio_start_ms: Math.round(from / PER_MS),
      item_id: itemId,
    });
    if (this.#detection().interrupt_response) this.#replies.interrupt();
  }

  /** Words are known of the turn that goes on: maybe enough for an interruption. */
  #mayInterrupt(text: string): void {
    const turn = this.#turn;
    if (turn === null || !turn.isHeld || !this.#interrupts(text)) return;
    turn.isHeld = false;
    this.#tellBegun(turn);
  }

  /** Speech into silence is no interruption, and needs no words to be heard. */
  #interrupts(text: string): boolean {
    const words = text.match(/[\p{L}\p{N}]+(['’][\p{L}]+)*/gu)?.length ?? 0;
    return (
      words >= minInterruptionWords(this.#settings.turnDetection) || (words > 0 && !this.#replies.isAudible)
    );
  }

  #ended(revision: number, to: number): void {
    const turn = this.#turn ?? { itemId: this.#newId("item_"), from: this.#bufferFrom, isHeld: false };
    this.#turn = null;
    if (!turn.isHeld) {
      this.#tellEnded(turn, to);
      this.#committed(turn, revision, to);
      return;
    }
    this.#undecided.set(revision, { ...turn, to });
    this.#take(turn, revision, to);
  }

  #tellEnded({ itemId }: Turn, to: number): void {
    this.#send("input_audio_buffer.speech_stopped", {
      audio_end_ms: Math.round(to / PER_MS),
      item_id: itemId,
    });
  }

  /** Sound up to there has become that item. Its words come later, or have come. */
  #committed(turn: Turn, revision: number, to: number): void {
    this.#tellCommitted(turn.itemId);
    this.#unheard.set(revision, turn.itemId);
    this.#take(turn, revision, to);
  }

  #tellCommitted(itemId: string): MessageItem {
    const item: MessageItem = {
      id: itemId,
      type: "message",
      role: "user",
      status: "completed",
      text: null,
      medium: "audio",
      spoken: null,
    };
    const previous = this.#addOwn(item);
    this.#send("input_audio_buffer.committed", { item_id: itemId, previous_item_id: previous });
    this.#sendItem(item, previous);
    return item;
  }

  /** The turn's sound is nobody else's, and is recognised by all means. */
  #take({ from }: Turn, revision: number, to: number): void {
    if (!this.#asked.has(revision)) this.#recognise(revision, from, to);
    const seconds = Math.max(0, to - from) / (1_000 * PER_MS);
    this.#effects.push({ type: "committed", revision, seconds });
    this.#forgetBefore(to);
    this.#asked.clear();
    const draft = this.#draft;
    this.#draft = null;
    if (draft?.revision === revision) this.#heard({ type: "heard", ...draft });
  }

  /** What the client ends by itself is a turn like any other: of what is longer than one may be, the newest counts. */
  #commit(appended: number): void {
    this.#forgetBefore(appended - MAX_TURN_SAMPLES);
    if (appended - this.#bufferFrom < MIN_COMMIT_SAMPLES) {
      const ms = Math.floor((appended - this.#bufferFrom) / PER_MS);
      throw new RealtimeError(`the buffer holds ${ms} ms of sound, and a turn has at least 100 ms`, {
        code: "input_audio_buffer_commit_empty",
      });
    }
    const itemId = this.#turn?.itemId ?? this.#newId("item_");
    const { revision } = this.#endpointing;
    this.#listenAnew(appended);
    this.#spokeUntilMs = this.#nowMs;
    this.#committed({ itemId, from: this.#bufferFrom, isHeld: false }, revision, appended);
  }

  #recognise(revision: number, from: number, to: number): void {
    this.#asked.add(revision);
    this.#effects.push({ type: "recognise", revision, from, to });
  }

  #heard(heard: Extract<SessionEvent, { type: "heard" }>): void {
    const undecided = this.#undecided.get(heard.revision);
    if (undecided !== undefined) {
      this.#undecided.delete(heard.revision);
      this.#decide(undecided, heard);
      this.#answerWhatIsOwed();
      return;
    }
    const itemId = this.#unheard.get(heard.revision);
    if (itemId === undefined) {
      this.#hearPause(heard);
      return;
    }
    this.#unheard.delete(heard.revision);
    const item = this.#items.all.find(({ id }) => id === itemId);
    if (item?.type === "message") this.#transcribed(item, heard);
    this.#beginWaiting();
    this.#answerWhatIsOwed();
  }

  /** Words up to a pause: all of the turn's, if that is its end. */
  #hearPause(heard: Extract<SessionEvent, { type: "heard" }>): void {
    const { revision, text } = heard;
    if (this.#endpointing.beganAt === null || revision !== this.#endpointing.revision) return;
    // What failed is tried again if the turn ends here.
    if (text === null) this.#asked.delete(revision);
    else this.#draft = { ...heard, text };
    this.#mayInterrupt(text ?? "");
  }

  /** The words of a turn that was none so far: enough to interrupt, some that are said to nobody, or none. */
  #decide(turn: Turn & { readonly to: number }, heard: { text: string | null; seconds: number }): void {
    const text = heard.text ?? "";
    if (text === "") return;
    const interrupts = this.#interrupts(text);
    if (interrupts) {
      this.#tellBegun(turn);
      this.#tellEnded(turn, turn.to);
    }
    const wasOwed = this.#isOwed;
    this.#transcribed(this.#tellCommitted(turn.itemId), heard);
    if (!interrupts) this.#isOwed = wasOwed;
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
      this.#send("conversation.item.input_audio_transcription.failed", { ...at, error });
      return;
    }
    item.text = text;
    // Of what is deleted the transcript is not told: agents-realtime asks for the item then, and is told that there is none.
    if (isTold && (text !== "" || this.#settings.type === "transcription")) {
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
    const isSpoken = this.#turn !== null && !this.#turn.isHeld;
    const isBusy = isSpoken || this.#unheard.size + this.#undecided.size > 0 || this.#replies.isResponding;
    if (!this.#isOwed || isBusy || this.#settings.type === "transcription") return;
    this.#respond({}, this.#spokeUntilMs);
  }

  /** The turn that has begun is none, and nothing before that sample belongs to another. */
  #listenAnew(appended: number): void {
    this.#endpointing = { ...dropTurn(this.#endpointing), samples: appended };
    this.#turn = null;
    this.#draft = null;
    this.#asked.clear();
    this.#quietWindows = 0;
    this.#clearWindows = 0;
    this.#effects.push({ type: "reset" });
  }

  /** Nobody speaks: of the sound only what may belong to the next turn is kept. */
  #quiet(probability: number): void {
    this.#quietWindows += 1;
    if (this.#quietWindows % FORGET_EVERY_WINDOWS === 0) {
      const keptMs = prefixMs(this.#settings.turnDetection) + ONSET_MS;
      this.#forgetBefore(this.#endpointing.samples - keptMs * PER_MS);
    }
    this.#clearWindows = probability < CLEAR ? this.#clearWindows + 1 : 0;
    if (this.#clearWindows < CLEAR_WINDOWS) return;
    this.#clearWindows = 0;
    this.#effects.push({ type: "refresh" });
  }

  /** Sound before that sample is nobody's turn, and is neither recognised nor metered. */
  #forgetBefore(sample: number): void {
    if (sample <= this.#bufferFrom) return;
    this.#bufferFrom = sample;
    this.#effects.push({ type: "forget", before: sample });
  }

  /** No sound comes while a turn is open: what time has passed is silence. */
  #hearMuted(): void {
    const quietMs = this.#nowMs - this.#soundAtMs;
    if (quietMs < MUTED_MS) return;
    const windows = Math.floor(quietMs / WINDOW_MS);
    while (this.#silentWindows < windows && this.#endpointing.beganAt !== null) {
      this.#silentWindows += 1;
      this.#windowAtMs = this.#nowMs;
      const options = this.#options();
      if (options === null) return;
      const { state, events } = hearSilence(this.#endpointing, options);
      this.#endpointing = state;
      for (const event of events) this.#endpoint(event);
    }
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
    if (this.#items.has(item.id)) {
      this.#items.delete(item.id);
      this.#send("conversation.item.deleted", { item_id: item.id });
    }
    return this.#add(item, null);
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
    const isBeside = this.#replies.create(options, { spokeUntilMs, isHeardOut: this.#unheard.size === 0 });
    if (isBeside) return;
    this.#isOwed = false;
    this.#idleAtMs = null;
  }

  /** All that was said is known: the replies that were asked for meanwhile answer it. */
  #beginWaiting(): void {
    if (this.#unheard.size === 0 && this.#replies.beginWaiting()) this.#isOwed = false;
  }

  /** Whoever spoke last has hardly ended, or somebody may just begin. */
  get #mayGoOn(): boolean {
    return this.#nowMs < this.#quietUntilMs || this.#mayBegin;
  }

  /** What is heard now may be the beginning of a turn, in the newest window that there is. */
  get #mayBegin(): boolean {
    const { beganAt, onset } = this.#endpointing;
    const isNow = this.#nowMs - this.#windowAtMs < STALE_MS;
    return beganAt === null && onset > 0 && isNow && this.#detection().interrupt_response;
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
    if (idleMs !== null && this.#endpointing.beganAt === null)
      this.#idleAtMs = Math.max(this.#nowMs, this.#replies.playedAtMs) + idleMs;
    this.#answerWhatIsOwed();
  }

  #woken(): void {
    this.#wakeAtMs = null;
    this.#release();
    if (this.#endpointing.beganAt !== null) this.#hearMuted();
    else if (this.#idleAtMs !== null && this.#nowMs >= this.#idleAtMs) this.#idle();
  }

  /** Asks to be woken when something is due; earlier is harmless. */
  #arm(): void {
    const mutedMs = this.#soundAtMs + MUTED_MS;
    const isOpen = this.#endpointing.beganAt !== null && this.#settings.turnDetection !== null;
    const dueMs = isOpen
      ? Math.max(mutedMs, this.#nowMs + (this.#silentWindows > 0 ? 100 : 0))
      : this.#replies.isHeldBack
        ? Math.max(this.#quietUntilMs, this.#mayBegin ? this.#windowAtMs + STALE_MS : 0)
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
    const endMs = Math.round(this.#endpointing.samples / PER_MS);
    this.#send("input_audio_buffer.timeout_triggered", {
      audio_start_ms: Math.max(0, endMs - idleMs),
      audio_end_ms: endMs,
      item_id: this.#newId("item_"),
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

  #wire(): Record<string, unknown> {
    return wireSession(this.#settings, this.id, this.#callsTools());
  }

  #send(type: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#effects.push({ type: "send", event: { type, ...fields } });
  }
}
