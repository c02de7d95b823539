import type { MessageItem } from "./conversation-items.ts";
import {
  type EndpointingEvent,
  type EndpointingOptions,
  endpointingOptions,
  MAX_TURN_SAMPLES,
  minInterruptionWords,
  minReplySilenceMs,
  prefixMs,
} from "./endpointing.ts";
import { RealtimeError } from "./realtime-error.ts";
import type { Responses } from "./responses.ts";
import type { SessionContext, SessionEvent } from "./session-events.ts";
import { turnDetectionPayload } from "./session-settings.ts";
import { SAMPLES_PER_MS, TurnDetector } from "./turn-detector.ts";

/** What is said in fewer samples is no turn of a client's own making: 100 ms. */
const MIN_COMMIT_SAMPLES = 100 * SAMPLES_PER_MS;
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
  isUnconfirmed: boolean;
}

type TurnTranscript = Omit<Extract<SessionEvent, { type: "transcript" }>, "type">;

export interface UserTurnsParts {
  readonly responses: Pick<Responses, "isPlaying" | "isRespondingOrPlaying" | "interrupt">;
  /** Somebody has begun to speak, to whomever. */
  readonly onSpeechStarted: () => void;
  /** They have said something that wants an answer. */
  readonly onReplyOwed: () => void;
  /** The words of a turn are known, or that there are none. */
  readonly onTranscribed: () => void;
}

/** What the user of a session says, turn by turn: its beginning, end and words, and whether it interrupts. */
export class UserTurns {
  readonly #context: SessionContext;
  readonly #parts: UserTurnsParts;
  readonly detector: TurnDetector;
  /** That has begun. */
  #turn: Turn | null = null;
  /** Turns that are over and have interrupted nothing so far, by the revision whose words decide that. */
  readonly #unconfirmed = new Map<number, Turn & { readonly to: number }>();
  /** Committed turns whose words are not known yet, by the revision that has them recognised. */
  readonly #untranscribed = new Map<number, string>();
  /** The newest words of a pause in the turn that goes on. */
  #draft: (TurnTranscript & { readonly text: string }) | null = null;
  readonly #requested = new Set<number>();
  #speechEndMs: number | null = null;
  #replyNotBeforeMs = 0;

  constructor(context: SessionContext, parts: UserTurnsParts) {
    this.#context = context;
    this.#parts = parts;
    this.detector = new TurnDetector(context, {
      options: () => this.options,
      onEvent: (event) => this.#onEndpoint(event),
    });
  }

  /** `null`: nothing is detected. */
  get options(): EndpointingOptions | null {
    if (this.#detection === null) return null;
    return endpointingOptions(this.#detection, {
      isReplyPlaying: this.#parts.responses.isPlaying,
      isUnconfirmed: this.#turn?.isUnconfirmed === true,
      isSentenceEnd: this.#draft?.revision === this.detector.revision && SENTENCE_END.test(this.#draft.text),
    });
  }

  /** When the newest turn's speech ended. */
  get speechEndMs(): number | null {
    return this.#speechEndMs;
  }

  /** No reply begins before: whoever only paused may go on. */
  get replyNotBeforeMs(): number {
    return this.#replyNotBeforeMs;
  }

  /** Whether the words of all committed turns are known. */
  get isTranscribed(): boolean {
    return this.#untranscribed.size === 0;
  }

  /** Whether somebody speaks whom no reply may talk over: no audio follows `speech_started`. */
  get isUserSpeaking(): boolean {
    return this.#turn !== null && !this.#turn.isUnconfirmed && this.#interruptsReplies;
  }

  /** Whether somebody speaks, or has said what is not known yet. */
  get hasOpenTurn(): boolean {
    const isSpoken = this.#turn !== null && !this.#turn.isUnconfirmed;
    return isSpoken || this.#untranscribed.size + this.#unconfirmed.size > 0;
  }

  /** What is heard now may be the beginning of a turn that interrupts. */
  get mayStart(): boolean {
    return this.detector.mayStart && this.#interruptsReplies;
  }

  /** The turn that goes on says that much so far. */
  addPartialTranscript(from: number, text: string): void {
    if (from === this.#turn?.from) this.#confirmInterruption(text);
  }

  /** The turn that has begun is none, and nothing before that sample belongs to another. */
  restart(sample: number): void {
    this.#turn = null;
    this.#draft = null;
    this.#requested.clear();
    this.detector.restart(sample);
  }

  /**
   * What the client ends by itself is a turn like any other: of what is longer than one may be, the newest counts.
   *
   * @param appended samples that have come
   * @throws RealtimeError where they are too few for a turn
   */
  commit(appended: number): void {
    const { detector } = this;
    detector.forgetBefore(appended - MAX_TURN_SAMPLES);
    if (appended - detector.bufferStart < MIN_COMMIT_SAMPLES) {
      const ms = Math.floor((appended - detector.bufferStart) / SAMPLES_PER_MS);
      throw new RealtimeError(`the buffer holds ${ms} ms of sound, and a turn has at least 100 ms`, {
        code: "input_audio_buffer_commit_empty",
      });
    }
    const itemId = this.#turn?.itemId ?? this.#context.newId("item_");
    const { revision } = detector;
    this.restart(appended);
    this.#speechEndMs = this.#context.nowMs();
    this.#commit({ itemId, from: detector.bufferStart, isUnconfirmed: false }, revision, appended);
  }

  /** What the recogniser heard of a pause or a turn. */
  addTranscript(transcript: TurnTranscript): void {
    const undecided = this.#unconfirmed.get(transcript.revision);
    const itemId = this.#untranscribed.get(transcript.revision);
    if (undecided !== undefined || itemId !== undefined)
      this.#context.do({
        type: "turn_transcribed",
        revision: transcript.revision,
        hasFailed: transcript.text === null,
      });
    if (undecided !== undefined) {
      this.#unconfirmed.delete(transcript.revision);
      this.#resolveUnconfirmed(undecided, transcript);
    } else if (itemId !== undefined) {
      this.#untranscribed.delete(transcript.revision);
      const item = this.#context.items.message(itemId);
      if (item !== null && this.#sendTranscription(item, transcript)) this.#owesReply();
    } else {
      this.#addPauseTranscript(transcript);
      return;
    }
    this.#parts.onTranscribed();
  }

  get #detection() {
    return this.#context.settings().turnDetection;
  }

  get #interruptsReplies(): boolean {
    return this.#detection !== null && turnDetectionPayload(this.#detection).interrupt_response;
  }

  #onEndpoint(event: EndpointingEvent): void {
    switch (event.type) {
      case "began":
        this.#startTurn(event.at);
        break;
      case "speaking":
        if (this.#turn !== null)
          this.#context.do({ type: "transcribe_partial", from: this.#turn.from, to: event.at });
        break;
      case "paused":
        this.#recognise(event.revision, this.#turn?.from ?? event.at, event.at);
        break;
      case "judge":
        this.#context.do({
          type: "judge",
          revision: event.revision,
          from: this.#turn?.from ?? event.at,
          to: event.at + JUDGED_SILENCE_MS * SAMPLES_PER_MS,
        });
        break;
      case "ended":
        this.#speechEndMs = this.detector.speechEndMs(event.silence);
        this.#replyNotBeforeMs = this.#speechEndMs + minReplySilenceMs(this.#detection);
        this.#endTurn(event.revision, event.at);
        break;
    }
  }

  #startTurn(at: number): void {
    const from = Math.max(this.detector.bufferStart, at - prefixMs(this.#detection) * SAMPLES_PER_MS, 0);
    const mayInterrupt = this.#interruptsReplies && this.#parts.responses.isRespondingOrPlaying;
    const isUnconfirmed = mayInterrupt && minInterruptionWords(this.#detection) > 0;
    this.#turn = { itemId: this.#context.newId("item_"), from, isUnconfirmed };
    this.#parts.onSpeechStarted();
    if (!isUnconfirmed) this.#sendSpeechStarted(this.#turn);
  }

  #sendSpeechStarted({ itemId, from }: Turn): void {
    const audio_start_ms = Math.round(from / SAMPLES_PER_MS);
    this.#context.send("input_audio_buffer.speech_started", { audio_start_ms, item_id: itemId });
    if (this.#interruptsReplies) this.#parts.responses.interrupt();
  }

  #sendSpeechStopped({ itemId }: Turn, to: number): void {
    const audio_end_ms = Math.round(to / SAMPLES_PER_MS);
    this.#context.send("input_audio_buffer.speech_stopped", { audio_end_ms, item_id: itemId });
  }

  /** Words are known of the turn that goes on: maybe enough for an interruption. */
  #confirmInterruption(text: string): void {
    const turn = this.#turn;
    if (turn === null || !turn.isUnconfirmed || !this.#isInterruption(text)) return;
    turn.isUnconfirmed = false;
    this.#sendSpeechStarted(turn);
  }

  /** Speech into silence is no interruption, and needs no words to be heard. */
  #isInterruption(text: string): boolean {
    const words = text.match(/[\p{L}\p{N}]+(['’][\p{L}]+)*/gu)?.length ?? 0;
    return (
      words >= minInterruptionWords(this.#detection) ||
      (words > 0 && !this.#parts.responses.isRespondingOrPlaying)
    );
  }

  #endTurn(revision: number, to: number): void {
    const { bufferStart } = this.detector;
    const turn = this.#turn ?? {
      itemId: this.#context.newId("item_"),
      from: bufferStart,
      isUnconfirmed: false,
    };
    this.#turn = null;
    if (turn.isUnconfirmed) {
      this.#unconfirmed.set(revision, { ...turn, to });
      this.#closeTurn(turn, revision, to);
    } else {
      this.#sendSpeechStopped(turn, to);
      this.#commit(turn, revision, to);
    }
  }

  /** Sound up to there has become that item. Its words come later, or have come. */
  #commit(turn: Turn, revision: number, to: number): void {
    this.#sendCommitted(turn.itemId);
    this.#untranscribed.set(revision, turn.itemId);
    this.#closeTurn(turn, revision, to);
  }

  #sendCommitted(itemId: string): MessageItem {
    const item: MessageItem = {
      id: itemId,
      type: "message",
      role: "user",
      status: "completed",
      text: null,
      medium: "audio",
      outputAudio: null,
    };
    const { items, send } = this.#context;
    const previous = items.append(item);
    send("input_audio_buffer.committed", { item_id: itemId, previous_item_id: previous });
    items.sendAdded(item, previous);
    return item;
  }

  /** The turn's sound is nobody else's, and is recognised by all means. */
  #closeTurn({ from }: Turn, revision: number, to: number): void {
    if (!this.#requested.has(revision)) this.#recognise(revision, from, to);
    const seconds = Math.max(0, to - from) / (1_000 * SAMPLES_PER_MS);
    this.#context.do({ type: "turn_committed", revision, seconds });
    this.detector.forgetBefore(to);
    this.#requested.clear();
    const draft = this.#draft;
    this.#draft = null;
    if (draft?.revision === revision) this.addTranscript(draft);
  }

  #recognise(revision: number, from: number, to: number): void {
    this.#requested.add(revision);
    this.#context.do({ type: "transcribe", revision, from, to });
  }

  /** Words up to a pause: all of the turn's, if that is its end. */
  #addPauseTranscript({ revision, text, seconds }: TurnTranscript): void {
    if (!this.detector.isInTurn || revision !== this.detector.revision) return;
    // What failed is tried again if the turn ends here.
    if (text === null) this.#requested.delete(revision);
    else this.#draft = { revision, text, seconds };
    this.#confirmInterruption(text ?? "");
  }

  /** The words of a turn that was none so far: enough to interrupt, some that are said to nobody, or none. */
  #resolveUnconfirmed(turn: Turn & { readonly to: number }, transcript: TurnTranscript): void {
    const text = transcript.text ?? "";
    if (text === "") return;
    const interrupts = this.#isInterruption(text);
    if (interrupts) {
      this.#sendSpeechStarted(turn);
      this.#sendSpeechStopped(turn, turn.to);
    }
    if (this.#sendTranscription(this.#sendCommitted(turn.itemId), transcript) && interrupts)
      this.#owesReply();
  }

  #owesReply(): void {
    if (this.#detection !== null && turnDetectionPayload(this.#detection).create_response)
      this.#parts.onReplyOwed();
  }

  /** Tells a turn's words. Returns whether there are any: a turn without is none. */
  #sendTranscription(item: MessageItem, { text, seconds }: TurnTranscript): boolean {
    const at = { item_id: item.id, content_index: 0 };
    const told = "conversation.item.input_audio_transcription";
    if (text === null) {
      item.text = "";
      const message = "the turn was not transcript: say it again";
      const error = { type: "server_error", code: "transcription_failed", message };
      this.#context.send(`${told}.failed`, { ...at, error });
      return false;
    }
    item.text = text;
    const { transcription, type } = this.#context.settings();
    // Of what is deleted the transcript is not told: agents-realtime asks for the item then, and is told that there is none.
    if (type === "transcription" || (transcription !== null && text !== "")) {
      if (text !== "") this.#context.send(`${told}.delta`, { ...at, delta: text });
      const usage = { type: "duration", seconds: Math.max(1, Math.round(seconds)) };
      this.#context.send(`${told}.completed`, { ...at, transcript: text, usage });
    }
    if (text === "") this.#context.items.delete(item.id);
    return text !== "";
  }
}
