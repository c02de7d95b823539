import { performance } from "node:perf_hooks";
import type { Clip, Conversation, Turn } from "../model/conversation.ts";
import { type Recogniser, RecogniserError, type Transcript } from "../model/recogniser.ts";
import type { HeardTurn } from "./heard-turn.ts";

/** Whose turns are heard: those that a writer reads, those by which the voice keeps its pace as well, or nobody's. */
type HearingUse = "writer" | "always" | "never";

/** A conversation, with the words of turns that came as sound alone as far as they were heard. */
export interface HeardConversation {
  readonly conversation: Conversation;
  /** What was listened to, oldest first. */
  readonly heard: readonly HeardTurn[];
}

/**
 * Finds the words of turns that are sound alone. What is known of a clip is kept by its digest, so that the next turn of
 * a conversation does not hear all of it again.
 */
export class Hearing {
  readonly #recogniser: Recogniser;
  readonly #use: HearingUse;
  readonly #patienceMs: number;
  /** By digest, the one longest unasked for first. */
  readonly #known = new Map<string, Transcript>();

  /** @param patienceMs how long one conversation is heard at most; its weights may be on their way, too */
  constructor(recogniser: Recogniser, use: HearingUse, patienceMs = 10_000) {
    this.#recogniser = recogniser;
    this.#use = use;
    this.#patienceMs = patienceMs;
  }

  /** Whether there is anything to hear. */
  wants(conversation: Conversation): boolean {
    return this.#wanted(conversation).length > 0;
  }

  /**
   * Hears what is to be heard of a conversation, the newest turns first. A turn that nobody can hear stays without
   * words, and `heard` says why; only an abort is thrown.
   */
  async hear(conversation: Conversation, signal: AbortSignal): Promise<HeardConversation> {
    const history = [...conversation.history];
    const heard: HeardTurn[] = [];
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const patience = setTimeout(
      () => stop.abort(new RecogniserError("hearing it took too long")),
      this.#patienceMs,
    );
    try {
      for (const index of this.#wanted(conversation)) {
        const turn = history[index];
        if (turn?.audio == null) continue;
        const found = await this.#heardTurn(index, turn.audio, stop.signal);
        heard.unshift(found);
        if (found.text !== null) history[index] = { ...turn, text: found.text };
      }
    } finally {
      clearTimeout(patience);
      signal.removeEventListener("abort", onAbort);
    }
    return { conversation: heard.length > 0 ? { ...conversation, history } : conversation, heard };
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

  /** @param stop aborts with a {@link RecogniserError} where only the patience is over */
  async #heardTurn(index: number, audio: Clip, stop: AbortSignal): Promise<HeardTurn> {
    const beganMs = performance.now();
    const told = (transcript: Transcript | null, problem: string | null): HeardTurn => ({
      index,
      text: transcript?.text || null,
      language: transcript?.text ? transcript.language : null,
      languageProbability: transcript?.languageProbability ?? null,
      speechProbability: transcript?.speechProbability ?? null,
      heardS: transcript?.heardS ?? 0,
      ms: Math.round(performance.now() - beganMs),
      problem,
    });
    try {
      stop.throwIfAborted();
      const transcript = this.#known.get(audio.digest) ?? (await this.#recognise(audio, stop));
      this.#keep(audio.digest, transcript);
      return told(transcript, null);
    } catch (error) {
      if (error instanceof RecogniserError) return told(null, error.message);
      throw error;
    }
  }

  #recognise(clip: Clip, signal: AbortSignal): Promise<Transcript> {
    // Whoever speaks listens to the clip as well.
    const kept = { ...clip, isGivenAway: false };
    const options = { language: null, prompt: null, wantsWords: false, draft: null };
    return this.#recogniser.recognise(kept, options, signal);
  }

  #keep(digest: string, transcript: Transcript): void {
    this.#known.delete(digest);
    this.#known.set(digest, transcript);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
  }
}

/** Bounds of one request: what is older is as if it could not be heard. */
const MOST_TURNS = 8;
const MOST_S = 120;
/** Of text after a turn: as much as any writer of ours reads. */
const MOST_CHARS = 24_000;
/** Clips whose words are kept. */
const MOST_KNOWN = 512;
