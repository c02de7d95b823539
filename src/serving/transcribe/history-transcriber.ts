import type { Clip, Conversation, Turn } from "../../core/conversation.ts";
import { RecogniserError, type Transcript } from "../../core/recogniser.ts";
import { NO_SPAN, type Span } from "../../core/span.ts";
import { stopWith } from "../../core/stop-with.ts";
import type { PublicModel } from "../../models/public-models.ts";
import type { TranscribedTurn } from "../reply/reply-meta.ts";
import { failureType, recognitionFacts } from "../request-spans.ts";
import { type ClipTranscriber, WaitLimitError } from "./clip-transcriber.ts";

/**
 * Whose turns are heard: those that a writer reads, or the model that speaks; those by which the voice keeps its pace as
 * well; or nobody's.
 */
type TranscriptionUse = "writer" | "always" | "never";

export interface HistoryTranscriberOptions {
  readonly use: TranscriptionUse;
  /**
   * How long a conversation's clips are being heard at most, in milliseconds: without the wait for a place, and with the
   * fetching and loading of the recogniser's weights, which the first clip may wait for. 10,000 unless told, and up
   * to 20,000 more where the newest clip is long.
   */
  readonly patienceMs?: number;
  /** What became of a turn, and the recogniser's error where that failed. For metrics and a log. */
  readonly onTurn?: (outcome: TranscriptionOutcome, error: RecogniserError | null) => void;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** Whether a turn was heard to its end, in part, or not at all. */
export type TranscriptionOutcome = "whole" | "part" | "none";

/** A conversation, with the words of turns that came as sound alone as far as they were heard. */
export interface TranscribedConversation {
  readonly conversation: Conversation;
  /** What was listened to, oldest first. */
  readonly turns: readonly TranscribedTurn[];
}

/** Finds the words of turns that are sound alone, for as long as the patience of a conversation lasts. */
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
   * Hears what is to be heard of a conversation, the newest turns first. A turn that nobody can hear stays without
   * words, and `heard` says why. So does one that was heard in part, whatever `heard` has of it: the rest may be what the
   * safety gate has to see, and what a reply has to answer.
   *
   * @param reads whose words the model that speaks reads: those are found for given words too
   * @throws a `ServiceError` where the server has no place to hear it in: a reply to what nobody heard would be wrong.
   *   The signal's reason.
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

  /** Refuses whoever waits to be heard and whoever comes. */
  close(): void {
    this.#clips.close();
  }

  /** The turns that are to be heard, the newest first. */
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
      // Given words need no more than the pace of whoever says them.
      if (open.text !== null && reads !== "everybody" && speaker !== open.speaker) continue;
      seconds += audio.durationS;
      // What the safety gate judges by is heard however long it is.
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
    const told = (transcript: Transcript | null, problem: string | null) => ({
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
      return told(transcript, null);
    } catch (error) {
      if (!(error instanceof RecogniserError)) {
        span.end(failureType(error, signal));
        throw error;
      }
      const known = this.#clips.known(clip);
      const failure = error instanceof WaitLimitError ? null : error;
      toldOf(known === null ? "none" : known.isWhole ? "whole" : "part", failure);
      if (failure !== null) span.end(failureType(failure, signal));
      return told(known?.transcript ?? null, known?.isWhole === true ? null : error.message);
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
/** A clip that is longer takes its time: twice of what a core takes that has nothing else to do. */
const SHORT_S = 30;
const MORE_MS_A_SECOND = 150;
const MAX_MORE_MS = 20_000;
/** The newest turns: among them, where two take turns, are the three of the other one that the safety gate reads. */
const GATED_TURNS = 6;
/** Bounds of one request: what is older is as if it could not be heard. */
const MAX_TURNS = 8;
const MAX_S = 120;
/** Of text after a turn: as much as any writer of ours reads. */
const MAX_CHARS = 24_000;
