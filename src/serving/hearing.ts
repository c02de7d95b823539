import type { Clip, Conversation, Turn } from "../model/conversation.ts";
import { RecogniserError, type Transcript } from "../model/recogniser.ts";
import { stopWith } from "../model/stop-with.ts";
import type { Ears } from "./ears.ts";
import type { HeardTurn } from "./heard-turn.ts";

/** Whose turns are heard: those that a writer reads, those by which the voice keeps its pace as well, or nobody's. */
type HearingUse = "writer" | "always" | "never";

export interface HearingOptions {
  readonly use: HearingUse;
  /**
   * How long a conversation's clips are being heard at most, the wait for a place not counted, in milliseconds; its
   * weights may be on their way, too. 10,000 unless told.
   */
  readonly patienceMs?: number;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** A conversation, with the words of turns that came as sound alone as far as they were heard. */
export interface HeardConversation {
  readonly conversation: Conversation;
  /** What was listened to, oldest first. */
  readonly heard: readonly HeardTurn[];
}

/** Finds the words of turns that are sound alone, for as long as the patience of a conversation lasts. */
export class Hearing {
  readonly #ears: Ears;
  readonly #use: HearingUse;
  readonly #patienceMs: number;
  readonly #nowMs: () => number;

  constructor(ears: Ears, options: HearingOptions) {
    this.#ears = ears;
    this.#use = options.use;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /**
   * Hears what is to be heard of a conversation, the newest turns first. A turn that nobody can hear stays without
   * words, one that takes too long has those that were heard of it, and `heard` says why.
   *
   * @throws a `ServiceError` where the server has no place to hear it in: a reply to what nobody heard would be wrong.
   *   The signal's reason.
   */
  async hear(conversation: Conversation, keyId: string, signal: AbortSignal): Promise<HeardConversation> {
    const history = [...conversation.history];
    const heard: HeardTurn[] = [];
    let leftMs = this.#patienceMs;
    for (const index of this.#wanted(conversation)) {
      const turn = history[index];
      if (turn?.audio == null) continue;
      const { usedMs, ...found } = await this.#heardClip(turn.audio, keyId, leftMs, signal);
      leftMs -= usedMs;
      heard.unshift({ index, ...found });
      if (found.text !== null) history[index] = { ...turn, text: found.text };
    }
    return { conversation: heard.length > 0 ? { ...conversation, history } : conversation, heard };
  }

  /** Refuses whoever waits to be heard and whoever comes. */
  close(): void {
    this.#ears.close();
  }

  /** The turns that are to be heard, the newest first. */
  #wanted({ history, open }: Conversation): number[] {
    if (this.#use === "never" || (open.text !== null && this.#use !== "always")) return [];
    const found: number[] = [];
    let seconds = 0;
    let chars = 0;
    for (let index = history.length - 1; index >= 0 && found.length < MOST_TURNS; index--) {
      const { text, audio, speaker } = history[index] as Turn;
      chars += text?.length ?? 0;
      if (open.text === null && chars > MOST_CHARS) break;
      // Given words need no more than the pace of whoever says them.
      if (text !== null || audio === null || (open.text !== null && speaker !== open.speaker)) continue;
      seconds += audio.durationS;
      // The newest is heard however long it is.
      if (found.length > 0 && seconds > MOST_S) break;
      found.push(index);
    }
    return found;
  }

  async #heardClip(
    clip: Clip,
    keyId: string,
    leftMs: number,
    signal: AbortSignal,
  ): Promise<Omit<HeardTurn, "index"> & { readonly usedMs: number }> {
    const askedMs = this.#nowMs();
    const listening = stopWith([signal]);
    let patience: NodeJS.Timeout | undefined;
    let beganMs: number | null = null;
    const onBegin = (): void => {
      beganMs = this.#nowMs();
      patience = setTimeout(() => listening.abort(tookTooLong()), leftMs);
    };
    const told = (transcript: Transcript | null, problem: string | null) => ({
      text: transcript?.text || null,
      language: transcript?.text ? transcript.language : null,
      languageProbability: transcript?.languageProbability ?? null,
      speechProbability: transcript?.speechProbability ?? null,
      heardS: transcript?.heardS ?? 0,
      ms: Math.round(this.#nowMs() - askedMs),
      problem,
      usedMs: beganMs === null ? 0 : this.#nowMs() - beganMs,
    });
    try {
      if (leftMs <= 0) listening.abort(tookTooLong());
      return told(await this.#ears.hear(clip, keyId, listening.signal, onBegin), null);
    } catch (error) {
      if (!(error instanceof RecogniserError)) throw error;
      const known = this.#ears.known(clip);
      return told(known?.transcript ?? null, known?.isWhole === true ? null : error.message);
    } finally {
      clearTimeout(patience);
      listening.end();
    }
  }
}

function tookTooLong(): RecogniserError {
  return new RecogniserError("hearing it took too long");
}

const PATIENCE_MS = 10_000;
/** Bounds of one request: what is older is as if it could not be heard. */
const MOST_TURNS = 8;
const MOST_S = 120;
/** Of text after a turn: as much as any writer of ours reads. */
const MOST_CHARS = 24_000;
