import type { Clip, Conversation, Turn } from "../../core/conversation.ts";
import { RecogniserError, type Transcript } from "../../core/recogniser.ts";
import { NO_SPAN, type Span } from "../../core/span.ts";
import { stopWith } from "../../core/stop-with.ts";
import type { PublicModel } from "../../models/public-models.ts";
import type { TranscribedTurn } from "../reply/reply-meta.ts";
import { failureType, recognitionFacts } from "../request-spans.ts";
import { type ClipTranscriber, WaitLimitError } from "./clip-transcriber.ts";

/**
 * Use of transcripts, which decides the turns to transcribe: `writer`, those that a writer or the speech model reads;
 * `always`, also those that set the pace of given text; `never`, none.
 */
type TranscriptionUse = "writer" | "always" | "never";

export interface HistoryTranscriberOptions {
  readonly use: TranscriptionUse;
  /**
   * Longest transcription of a conversation's clips, in milliseconds, without the wait for a place but with fetching
   * and loading of weights. Default: 10,000, and up to 20,000 more if the newest clip is long.
   */
  readonly patienceMs?: number;
  /** Receives the outcome of a turn, and the recogniser's error if it failed. */
  readonly onTurn?: (outcome: TranscriptionOutcome, error: RecogniserError | null) => void;
  readonly nowMs?: () => number;
}

export type TranscriptionOutcome = "whole" | "part" | "none";

/** Conversation with the transcripts of its audio-only turns. */
export interface TranscribedConversation {
  readonly conversation: Conversation;
  /** Transcribed turns, oldest first. */
  readonly turns: readonly TranscribedTurn[];
}

/** Transcribes audio-only turns within a time limit per conversation. */
export class HistoryTranscriber {
  readonly #clips: ClipTranscriber;
  readonly #use: TranscriptionUse;
  readonly #patienceMs: number;
  readonly #nowMs: () => number;
  readonly #onTurn: NonNullable<HistoryTranscriberOptions["onTurn"]>;

  constructor(clips: ClipTranscriber, options: HistoryTranscriberOptions) {
    this.#clips = clips;
    this.#use = options.use;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#onTurn = options.onTurn ?? (() => {});
  }

  /**
   * Transcribes a conversation, newest turns first. A turn that fails stays without text, and `turns` says why. So
   * does a partly transcribed one: the rest may be what the safety gate has to see, and what a reply has to answer.
   *
   * @param reads turns whose text the speech model reads: those are transcribed for given text too
   * @throws a `ServiceError` if the server has no place for it, since a reply would miss the turn; the signal's
   * reason
   */
  async transcribe(
    conversation: Conversation,
    keyId: string,
    signal: AbortSignal,
    span: Span = NO_SPAN,
    reads: PublicModel["reads"] = undefined,
  ): Promise<TranscribedConversation> {
    const history = [...conversation.history];
    const heard: TranscribedTurn[] = [];
    const wanted = this.#wanted(conversation, reads);
    const newestS = history[wanted[0] ?? -1]?.audio?.durationS ?? 0;
    const beyondS = Math.max(0, newestS - SHORT_S);
    let leftMs = this.#patienceMs + Math.min(MAX_MORE_MS, beyondS * MORE_MS_A_SECOND);
    for (const index of wanted) {
      const turn = history[index];
      if (turn?.audio == null) continue;
      const { usedMs, ...found } = await this.#heardClip(turn.audio, keyId, leftMs, signal, span);
      leftMs -= usedMs;
      heard.unshift({ index, ...found });
      if (found.text !== null && found.problem === null) history[index] = { ...turn, text: found.text };
    }
    return { conversation: heard.length > 0 ? { ...conversation, history } : conversation, turns: heard };
  }

  /** Refuses all waiting and further requests. */
  close(): void {
    this.#clips.close();
  }

  /** Returns the turns to transcribe, newest first. */
  #wanted({ history, open }: Conversation, reads: PublicModel["reads"]): number[] {
    const isHeardForGiven = this.#use === "always" || reads !== undefined;
    if (this.#use === "never" || (open.text !== null && !isHeardForGiven)) return [];
    const found: number[] = [];
    let seconds = 0;
    let chars = 0;
    for (let index = history.length - 1; index >= 0 && found.length < MAX_TURNS; index--) {
      const { text, audio, speaker } = history[index] as Turn;
      chars += text?.length ?? 0;
      if (open.text === null && chars > MAX_CHARS) break;
      if (text !== null || audio === null) continue;
      // Given text needs only the pace of its own speaker.
      if (open.text !== null && reads !== "everybody" && speaker !== open.speaker) continue;
      seconds += audio.durationS;
      // The safety gate's turns are transcribed however long they are.
      if (history.length - index > GATED_TURNS && seconds > MAX_S) break;
      found.push(index);
    }
    return found;
  }

  async #heardClip(
    clip: Clip,
    keyId: string,
    leftMs: number,
    signal: AbortSignal,
    within: Span,
  ): Promise<Omit<TranscribedTurn, "index"> & { readonly usedMs: number }> {
    const span = within.begin("hear", recognitionFacts(this.#clips.name, clip));
    const askedMs = this.#nowMs();
    const listening = stopWith([signal]);
    let patience: NodeJS.Timeout | undefined;
    let beganMs: number | null = null;
    const onBegin = (): void => {
      beganMs = this.#nowMs();
      patience = setTimeout(() => listening.abort(tookTooLong()), leftMs);
    };
    const toldOf = (outcome: TranscriptionOutcome, error: RecogniserError | null): void => {
      span.set({ "antiphon.heard": outcome });
      this.#onTurn(outcome, error);
    };
    const result = (transcript: Transcript | null, problem: string | null) => ({
      text: transcript?.text || null,
      language: transcript?.text ? transcript.language : null,
      languageProbability: transcript?.languageProbability ?? null,
      speechProbability: transcript?.speechProbability ?? null,
      heardS: transcript?.transcribedS ?? 0,
      ms: Math.round(this.#nowMs() - askedMs),
      problem,
      usedMs: beganMs === null ? 0 : this.#nowMs() - beganMs,
    });
    try {
      if (leftMs <= 0) listening.abort(tookTooLong());
      const transcript = await this.#clips.transcribe(clip, keyId, listening.signal, onBegin, span.headers);
      toldOf("whole", null);
      return result(transcript, null);
    } catch (error) {
      if (!(error instanceof RecogniserError)) {
        span.end(failureType(error, signal));
        throw error;
      }
      const known = this.#clips.known(clip);
      const failure = error instanceof WaitLimitError ? null : error;
      toldOf(known === null ? "none" : known.isWhole ? "whole" : "part", failure);
      if (failure !== null) span.end(failureType(failure, signal));
      return result(known?.transcript ?? null, known?.isWhole === true ? null : error.message);
    } finally {
      clearTimeout(patience);
      listening.end();
      span.end();
    }
  }
}

function tookTooLong(): RecogniserError {
  return new WaitLimitError("Hearing it took too long: say less at once, or ask again.");
}

const PATIENCE_MS = 10_000;
/** Longer clips get more time: twice what an idle core takes. */
const SHORT_S = 30;
const MORE_MS_A_SECOND = 150;
const MAX_MORE_MS = 20_000;
/** Newest turns. In a dialogue of two they hold the three of the other speaker that the safety gate reads. */
const GATED_TURNS = 6;
/** Limits per request; older turns stay without text. */
const MAX_TURNS = 8;
const MAX_S = 120;
/** Characters of text after a turn: as many as any writer here reads. */
const MAX_CHARS = 24_000;
