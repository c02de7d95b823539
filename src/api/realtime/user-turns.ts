import type { MessageItem } from "./conversation-items.ts";
import type { EndpointEvent, EndpointingOptions } from "./endpointing.ts";
import {
  endpointingOptions,
  MAX_TURN_SAMPLES,
  minInterruptionWords,
  minReplySilenceMs,
  prefixMs,
} from "./endpointing.ts";
import { RealtimeError } from "./realtime-error.ts";
import type { SessionEffect, SessionEvent } from "./session-events.ts";
import { type SessionSettings, withDefaults } from "./session-settings.ts";
import { PER_MS, SoundWatch } from "./turn-detector.ts";

/** What is said in fewer samples is no turn of a client's own making: 100 ms. */
const MIN_COMMIT_SAMPLES = 100 * PER_MS;
/** The judge hears so much of the pause: smart-turn v3 is best with 0.1 to 0.2 s of silence, and errs with more or none. */
const JUDGED_SILENCE_MS = 150;

/** What ends a sentence, and no "..." of somebody who trails off. */
const SENTENCE_END = /(?<![.…])[.!?]["”’')]*$/;

/** A turn from its beginning to its end. */
interface Turn {
  /** Of the item that it will be. */
  readonly itemId: string;
  /** Its first sample. */
  readonly from: number;
  /** Whether it is not known yet that it interrupts a reply: nothing is told of it meanwhile. */
  isHeld: boolean;
}

type Heard = Omit<Extract<SessionEvent, { type: "heard" }>, "type">;

export interface TurnsParts {
  readonly newId: (prefix: string) => string;
  readonly settings: () => SessionSettings;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
  /** What replies do meanwhile. */
  readonly replies: { readonly isHeard: boolean; readonly isAudible: boolean; interrupt(): void };
  /** Adds an item to the conversation and tells of it, after `tell` was called with the id of the one before it. */
  readonly add: (item: MessageItem, tell: (previous: string | null) => void) => void;
  readonly find: (itemId: string) => MessageItem | null;
  readonly delete: (itemId: string) => void;
  readonly send: (type: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly do: (effect: SessionEffect) => void;
  /** Somebody has begun to speak, to whomever. */
  readonly began: () => void;
  /** They have said something that wants an answer. */
  readonly said: () => void;
  /** The words of a turn are known, or that there are none. */
  readonly heard: () => void;
}

/** What the user of a session says, turn by turn: its beginning, end and words, and whether it interrupts. */
export class Turns {
  readonly #parts: TurnsParts;
  readonly sound: SoundWatch;
  /** That has begun. */
  #turn: Turn | null = null;
  /** Turns that are over and have interrupted nothing so far, by the revision whose words decide that. */
  readonly #undecided = new Map<number, Turn & { readonly to: number }>();
  /** Committed turns whose words are not known yet, by the revision that has them recognised. */
  readonly #unheard = new Map<number, string>();
  /** The newest words of a pause in the turn that goes on. */
  #draft: (Heard & { readonly text: string }) | null = null;
  readonly #asked = new Set<number>();
  #spokeUntilMs: number | null = null;
  #quietUntilMs = 0;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
    this.sound = new SoundWatch({
      options: () => this.options,
      prefixMs: () => prefixMs(this.#detection),
      nowMs: parts.nowMs,
      endpoint: (event) => this.#endpoint(event),
      do: parts.do,
    });
  }

  /** `null`: nothing is detected. */
  get options(): EndpointingOptions | null {
    if (this.#detection === null) return null;
    return endpointingOptions(this.#detection, {
      isSpeaking: this.#parts.replies.isHeard,
      isHeld: this.#turn?.isHeld === true,
      isSentence: this.#draft?.revision === this.sound.revision && SENTENCE_END.test(this.#draft.text),
    });
  }

  /** When the newest turn's speech ended. */
  get spokeUntilMs(): number | null {
    return this.#spokeUntilMs;
  }

  /** No reply begins before: whoever only paused may go on. */
  get quietUntilMs(): number {
    return this.#quietUntilMs;
  }

  /** Whether the words of all committed turns are known. */
  get isHeardOut(): boolean {
    return this.#unheard.size === 0;
  }

  /** Whether somebody speaks whom no reply may talk over: no audio follows `speech_started`. */
  get isTaken(): boolean {
    return this.#turn !== null && !this.#turn.isHeld && this.#interruptsReplies;
  }

  /** Whether somebody speaks, or has said what is not known yet. */
  get isOpen(): boolean {
    const isSpoken = this.#turn !== null && !this.#turn.isHeld;
    return isSpoken || this.#unheard.size + this.#undecided.size > 0;
  }

  /** What is heard now may be the beginning of a turn that interrupts. */
  get mayBegin(): boolean {
    return this.sound.mayBegin && this.#interruptsReplies;
  }

  /** The turn that goes on says that much so far. */
  partly(from: number, text: string): void {
    if (from === this.#turn?.from) this.#mayInterrupt(text);
  }

  /** The turn that has begun is none, and nothing before that sample belongs to another. */
  restart(sample: number): void {
    this.#turn = null;
    this.#draft = null;
    this.#asked.clear();
    this.sound.restart(sample);
  }

  /**
   * What the client ends by itself is a turn like any other: of what is longer than one may be, the newest counts.
   *
   * @param appended samples that have come
   * @throws RealtimeError where they are too few for a turn
   */
  commit(appended: number): void {
    const { sound } = this;
    sound.forgetBefore(appended - MAX_TURN_SAMPLES);
    if (appended - sound.keptFrom < MIN_COMMIT_SAMPLES) {
      const ms = Math.floor((appended - sound.keptFrom) / PER_MS);
      throw new RealtimeError(`the buffer holds ${ms} ms of sound, and a turn has at least 100 ms`, {
        code: "input_audio_buffer_commit_empty",
      });
    }
    const itemId = this.#turn?.itemId ?? this.#parts.newId("item_");
    const { revision } = sound;
    this.restart(appended);
    this.#spokeUntilMs = this.#parts.nowMs();
    this.#commit({ itemId, from: sound.keptFrom, isHeld: false }, revision, appended);
  }

  /** What the recogniser heard of a pause or a turn. */
  hear(heard: Heard): void {
    const undecided = this.#undecided.get(heard.revision);
    const itemId = this.#unheard.get(heard.revision);
    if (undecided !== undefined || itemId !== undefined)
      this.#parts.do({ type: "transcribed", revision: heard.revision, hasFailed: heard.text === null });
    if (undecided !== undefined) {
      this.#undecided.delete(heard.revision);
      this.#decide(undecided, heard);
    } else if (itemId !== undefined) {
      this.#unheard.delete(heard.revision);
      const item = this.#parts.find(itemId);
      if (item !== null && this.#transcribed(item, heard)) this.#said();
    } else {
      this.#hearPause(heard);
      return;
    }
    this.#parts.heard();
  }

  get #detection() {
    return this.#parts.settings().turnDetection;
  }

  get #interruptsReplies(): boolean {
    return this.#detection !== null && withDefaults(this.#detection).interrupt_response;
  }

  #endpoint(event: EndpointEvent): void {
    switch (event.type) {
      case "began":
        this.#began(event.at);
        break;
      case "speaking":
        if (this.#turn !== null) this.#parts.do({ type: "draft", from: this.#turn.from, to: event.at });
        break;
      case "paused":
        this.#recognise(event.revision, this.#turn?.from ?? event.at, event.at);
        break;
      case "judge":
        this.#parts.do({
          type: "judge",
          revision: event.revision,
          from: this.#turn?.from ?? event.at,
          to: event.at + JUDGED_SILENCE_MS * PER_MS,
        });
        break;
      case "ended":
        this.#spokeUntilMs = this.sound.speechEndMs(event.silence);
        this.#quietUntilMs = this.#spokeUntilMs + minReplySilenceMs(this.#detection);
        this.#ended(event.revision, event.at);
        break;
    }
  }

  #began(at: number): void {
    const from = Math.max(this.sound.keptFrom, at - prefixMs(this.#detection) * PER_MS, 0);
    const mayInterrupt = this.#interruptsReplies && this.#parts.replies.isAudible;
    const isHeld = mayInterrupt && minInterruptionWords(this.#detection) > 0;
    this.#turn = { itemId: this.#parts.newId("item_"), from, isHeld };
    this.#parts.began();
    if (!isHeld) this.#tellBegun(this.#turn);
  }

  #tellBegun({ itemId, from }: Turn): void {
    const audio_start_ms = Math.round(from / PER_MS);
    this.#parts.send("input_audio_buffer.speech_started", { audio_start_ms, item_id: itemId });
    if (this.#interruptsReplies) this.#parts.replies.interrupt();
  }

  #tellEnded({ itemId }: Turn, to: number): void {
    const audio_end_ms = Math.round(to / PER_MS);
    this.#parts.send("input_audio_buffer.speech_stopped", { audio_end_ms, item_id: itemId });
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
    return words >= minInterruptionWords(this.#detection) || (words > 0 && !this.#parts.replies.isAudible);
  }

  #ended(revision: number, to: number): void {
    const { keptFrom } = this.sound;
    const turn = this.#turn ?? { itemId: this.#parts.newId("item_"), from: keptFrom, isHeld: false };
    this.#turn = null;
    if (turn.isHeld) {
      this.#undecided.set(revision, { ...turn, to });
      this.#take(turn, revision, to);
    } else {
      this.#tellEnded(turn, to);
      this.#commit(turn, revision, to);
    }
  }

  /** Sound up to there has become that item. Its words come later, or have come. */
  #commit(turn: Turn, revision: number, to: number): void {
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
    this.#parts.add(item, (previous) =>
      this.#parts.send("input_audio_buffer.committed", { item_id: itemId, previous_item_id: previous }),
    );
    return item;
  }

  /** The turn's sound is nobody else's, and is recognised by all means. */
  #take({ from }: Turn, revision: number, to: number): void {
    if (!this.#asked.has(revision)) this.#recognise(revision, from, to);
    const seconds = Math.max(0, to - from) / (1_000 * PER_MS);
    this.#parts.do({ type: "committed", revision, seconds });
    this.sound.forgetBefore(to);
    this.#asked.clear();
    const draft = this.#draft;
    this.#draft = null;
    if (draft?.revision === revision) this.hear(draft);
  }

  #recognise(revision: number, from: number, to: number): void {
    this.#asked.add(revision);
    this.#parts.do({ type: "recognise", revision, from, to });
  }

  /** Words up to a pause: all of the turn's, if that is its end. */
  #hearPause({ revision, text, seconds }: Heard): void {
    if (!this.sound.isInTurn || revision !== this.sound.revision) return;
    // What failed is tried again if the turn ends here.
    if (text === null) this.#asked.delete(revision);
    else this.#draft = { revision, text, seconds };
    this.#mayInterrupt(text ?? "");
  }

  /** The words of a turn that was none so far: enough to interrupt, some that are said to nobody, or none. */
  #decide(turn: Turn & { readonly to: number }, heard: Heard): void {
    const text = heard.text ?? "";
    if (text === "") return;
    const interrupts = this.#interrupts(text);
    if (interrupts) {
      this.#tellBegun(turn);
      this.#tellEnded(turn, turn.to);
    }
    if (this.#transcribed(this.#tellCommitted(turn.itemId), heard) && interrupts) this.#said();
  }

  #said(): void {
    if (this.#detection !== null && withDefaults(this.#detection).create_response) this.#parts.said();
  }

  /** Tells a turn's words. Returns whether there are any: a turn without is none. */
  #transcribed(item: MessageItem, { text, seconds }: Heard): boolean {
    const at = { item_id: item.id, content_index: 0 };
    const told = "conversation.item.input_audio_transcription";
    if (text === null) {
      item.text = "";
      const message = "the turn was not heard: say it again";
      const error = { type: "server_error", code: "transcription_failed", message };
      this.#parts.send(`${told}.failed`, { ...at, error });
      return false;
    }
    item.text = text;
    const { transcription, type } = this.#parts.settings();
    // Of what is deleted the transcript is not told: agents-realtime asks for the item then, and is told that there is none.
    if (type === "transcription" || (transcription !== null && text !== "")) {
      if (text !== "") this.#parts.send(`${told}.delta`, { ...at, delta: text });
      const usage = { type: "duration", seconds: Math.max(1, Math.round(seconds)) };
      this.#parts.send(`${told}.completed`, { ...at, transcript: text, usage });
    }
    if (text === "") this.#parts.delete(item.id);
    return text !== "";
  }
}
