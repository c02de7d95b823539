import { type MessageItem, spokenTurn } from "./conversation-items.ts";
import {
  type EndpointingEvent,
  type EndpointingOptions,
  endpointingOptions,
  MAX_TURN_SAMPLES,
  prefixMs,
  type TurnEnding,
  turnEnding,
} from "./endpointing.ts";
import { RealtimeError } from "./realtime-error.ts";
import type { Responses } from "./responses.ts";
import type { PartialTranscript, SessionContext, TurnTranscript } from "./session-events.ts";
import { turnDetectionPayload } from "./session-settings.ts";
import { TranscriptionEvents } from "./transcription-events.ts";
import { SAMPLES_PER_MS, TurnDetector } from "./turn-detector.ts";

/** Minimum length of a turn that a client commits: 100 ms. */
const MIN_COMMIT_SAMPLES = 100 * SAMPLES_PER_MS;
/** Silence included in the judged audio: smart-turn v3 is most accurate with 100 to 200 ms. */
const JUDGED_SILENCE_MS = 150;

interface Turn {
  readonly itemId: string;
  readonly from: number;
  /** Whether the turn may still prove too short to interrupt a reply. No event is sent for it meanwhile. */
  isUnconfirmed: boolean;
}

export interface UserTurnsParts {
  readonly responses: Pick<Responses, "isPlaying" | "isRespondingOrPlaying" | "interrupt">;
  readonly onSpeechStarted: () => void;
  readonly onReplyOwed: () => void;
  /** Called with the words of a turn when it has probably ended. */
  readonly onLikelyEnd: (text: string) => void;
  readonly onTranscribed: () => void;
}

/** The user's turns: their start, end and transcript, and whether they interrupt a reply. */
export class UserTurns {
  readonly #context: SessionContext;
  readonly #parts: UserTurnsParts;
  readonly #transcripts: TranscriptionEvents;
  readonly detector: TurnDetector;
  #turn: Turn | null = null;
  /** Ended turns that have not interrupted a reply so far, by the revision whose transcript decides. */
  readonly #unconfirmed = new Map<number, Turn & { readonly to: number }>();
  /** Item ids of committed turns that await their transcript, by revision. */
  readonly #untranscribed = new Map<number, string>();
  /** Transcript of the latest pause in the current turn. */
  #draft: (TurnTranscript & { readonly text: string }) | null = null;
  readonly #requested = new Set<number>();
  /** When the latest turn's speech ended. */
  speechEndMs: number | null = null;

  constructor(context: SessionContext, parts: UserTurnsParts) {
    this.#context = context;
    this.#parts = parts;
    this.#transcripts = new TranscriptionEvents(context);
    this.detector = new TurnDetector(context, {
      options: () => this.options,
      onEvent: (event) => this.#onEndpoint(event),
    });
  }

  /** Returns the current endpointing options; `null` while turn detection is off. */
  get options(): EndpointingOptions | null {
    if (this.#detection === null) return null;
    return endpointingOptions(this.#detection, {
      isReplyPlaying: this.#parts.responses.isPlaying,
      isUnconfirmed: this.#turn?.isUnconfirmed === true,
      ending:
        this.#draft?.revision === this.detector.revision ? this.#endingOf(this.#draft.text) : "unfinished",
    });
  }

  #endingOf(text: string): TurnEnding {
    const last = this.#context.items.all.findLast((item) => item.type === "message" && item.text !== null);
    const isReply = last?.type === "message" && last.role === "assistant";
    return turnEnding(text, isReply && /[?？]\s*$/.test(last.text ?? ""));
  }

  get isTranscribed(): boolean {
    return this.#untranscribed.size === 0;
  }

  /** Whether the user holds the turn: no audio may follow `speech_started`. */
  get isUserSpeaking(): boolean {
    return this.#turn !== null && !this.#turn.isUnconfirmed && this.#interruptsReplies;
  }

  get hasOpenTurn(): boolean {
    const isSpoken = this.#turn !== null && !this.#turn.isUnconfirmed;
    return isSpoken || this.#untranscribed.size + this.#unconfirmed.size > 0;
  }

  /** Whether the current audio may start a turn that interrupts. */
  get mayStart(): boolean {
    return this.detector.mayStart && this.#interruptsReplies;
  }

  addPartialTranscript({ from, text, stable }: PartialTranscript): void {
    if (from !== this.#turn?.from) return;
    this.#confirmInterruption(text);
    this.#transcripts.addStable(this.#turn.itemId, stable);
  }

  /** Discards the current turn and all audio before `sample`. */
  restart(sample: number): void {
    this.#turn = null;
    this.#draft = null;
    this.#requested.clear();
    this.detector.restart(sample);
  }

  /**
   * Commits the buffer as the client asks. Only the newest 120 s of it count.
   *
   * @param appended samples received
   * @throws RealtimeError for less than 100 ms
   */
  commit(appended: number): void {
    const { detector } = this;
    detector.forgetBefore(appended - MAX_TURN_SAMPLES);
    if (appended - detector.bufferStart < MIN_COMMIT_SAMPLES) {
      const ms = Math.floor((appended - detector.bufferStart) / SAMPLES_PER_MS);
      throw new RealtimeError(`the input audio buffer holds ${ms} ms: commit at least 100 ms of audio`, {
        code: "input_audio_buffer_commit_empty",
      });
    }
    const itemId = this.#turn?.itemId ?? this.#context.newId("item_");
    const { revision } = detector;
    this.restart(appended);
    this.speechEndMs = this.#context.nowMs();
    this.#commit({ itemId, from: detector.bufferStart, isUnconfirmed: false }, revision, appended);
  }

  /** Adds the transcript of a pause or a turn; no text if recognition failed. */
  addTranscript(transcript: TurnTranscript): void {
    const { revision, text } = transcript;
    const unconfirmed = this.#unconfirmed.get(revision);
    const itemId = this.#untranscribed.get(revision);
    if (unconfirmed === undefined && itemId === undefined) {
      this.#addPauseTranscript(transcript);
      return;
    }
    this.#context.do({ type: "turn_transcribed", revision, hasFailed: text === null });
    this.#unconfirmed.delete(revision);
    this.#untranscribed.delete(revision);
    const item = itemId === undefined ? null : this.#context.items.message(itemId);
    if (unconfirmed !== undefined) this.#resolveUnconfirmed(unconfirmed, transcript);
    else if (item !== null && this.#transcripts.complete(item, transcript)) this.#owesReply();
    this.#parts.onTranscribed();
  }

  get #detection() {
    return this.#context.settings().turnDetection;
  }

  get #interruptsReplies(): boolean {
    return this.#detection !== null && turnDetectionPayload(this.#detection).interrupt_response;
  }

  #onEndpoint(event: EndpointingEvent): void {
    if (event.type === "began") this.#startTurn(event.at);
    const turn = this.#turn;
    if (turn === null) return;
    const { from } = turn;
    switch (event.type) {
      case "speaking":
        this.#context.do({ type: "transcribe_partial", to: event.at, ...turn });
        break;
      case "paused":
        this.#requestTranscript(event.revision, from, event.at);
        break;
      case "sentence_pause":
        this.#context.do(event);
        break;
      case "judge":
        this.#context.do({ ...event, from, to: event.at + JUDGED_SILENCE_MS * SAMPLES_PER_MS });
        break;
      case "ended":
        this.speechEndMs = this.detector.speechEndMs(event.silence);
        this.#endTurn(turn, event.revision, event.at);
        break;
    }
  }

  #startTurn(at: number): void {
    const from = Math.max(this.detector.bufferStart, at - prefixMs(this.#detection) * SAMPLES_PER_MS, 0);
    const mayInterrupt = this.#interruptsReplies && this.#parts.responses.isRespondingOrPlaying;
    const isUnconfirmed = mayInterrupt && this.#minInterruptionWords > 0;
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

  /** Confirms an interruption once enough words are transcribed. */
  #confirmInterruption(text: string): void {
    const turn = this.#turn;
    if (turn === null || !turn.isUnconfirmed || !this.#isInterruption(text)) return;
    turn.isUnconfirmed = false;
    this.#sendSpeechStarted(turn);
  }

  /** Any word counts while no reply is playing, since it interrupts nothing. */
  #isInterruption(text: string): boolean {
    const words = text.match(/[\p{L}\p{N}]+(['’][\p{L}]+)*/gu)?.length ?? 0;
    const minWords = this.#minInterruptionWords;
    return words >= (this.#parts.responses.isRespondingOrPlaying ? minWords : Math.min(1, minWords));
  }

  /** 0: any speech interrupts. */
  get #minInterruptionWords(): number {
    return this.#detection?.antiphon_min_interruption_words ?? 0;
  }

  #endTurn(turn: Turn, revision: number, to: number): void {
    this.#turn = null;
    if (turn.isUnconfirmed) {
      this.#unconfirmed.set(revision, { ...turn, to });
      this.#closeTurn(turn, revision, to);
    } else {
      this.#sendSpeechStopped(turn, to);
      this.#commit(turn, revision, to);
    }
  }

  /** Turns the audio up to `to` into an item. Its transcript may come earlier or later. */
  #commit(turn: Turn, revision: number, to: number): void {
    this.#sendCommitted(turn.itemId);
    this.#untranscribed.set(revision, turn.itemId);
    this.#closeTurn(turn, revision, to);
  }

  #sendCommitted(itemId: string): MessageItem {
    const item = spokenTurn(itemId, null);
    const { items, send } = this.#context;
    const previous = items.append(item);
    send("input_audio_buffer.committed", { item_id: itemId, previous_item_id: previous });
    items.sendAdded(item, previous);
    return item;
  }

  /** Closes the turn: its audio is dropped from the buffer and its recognition is no longer superseded. */
  #closeTurn({ from }: Turn, revision: number, to: number): void {
    if (!this.#requested.has(revision)) this.#requestTranscript(revision, from, to);
    const seconds = Math.max(0, to - from) / (1_000 * SAMPLES_PER_MS);
    this.#context.do({ type: "turn_committed", revision, seconds });
    this.detector.forgetBefore(to);
    this.#requested.clear();
    const draft = this.#draft;
    this.#draft = null;
    if (draft?.revision === revision) this.addTranscript(draft);
  }

  #requestTranscript(revision: number, from: number, to: number): void {
    this.#requested.add(revision);
    this.#context.do({ type: "transcribe", revision, from, to });
  }

  /** Keeps the words up to a pause: they are the whole turn if it ends here. */
  #addPauseTranscript({ revision, text, seconds }: TurnTranscript): void {
    if (!this.detector.isInTurn || revision !== this.detector.revision) return;
    // A failed recognition is retried if the turn ends here.
    if (text === null) this.#requested.delete(revision);
    else this.#draft = { revision, text, seconds };
    this.#confirmInterruption(text ?? "");
    const isLikelyOver = text !== null && this.#endingOf(text) !== "unfinished";
    if (isLikelyOver && this.#repliesToTurns) this.#parts.onLikelyEnd(text);
    this.detector.reconsider();
  }

  /** Decides about an ended turn: it interrupts, it only enters the conversation, or it was no speech. */
  #resolveUnconfirmed(turn: Turn & { readonly to: number }, transcript: TurnTranscript): void {
    const text = transcript.text ?? "";
    if (text === "") return;
    const interrupts = this.#isInterruption(text);
    if (interrupts) {
      this.#sendSpeechStarted(turn);
      this.#sendSpeechStopped(turn, turn.to);
    }
    if (this.#transcripts.complete(this.#sendCommitted(turn.itemId), transcript) && interrupts)
      this.#owesReply();
  }

  get #repliesToTurns(): boolean {
    return this.#detection !== null && turnDetectionPayload(this.#detection).create_response;
  }

  #owesReply(): void {
    if (this.#repliesToTurns) this.#parts.onReplyOwed();
  }
}
