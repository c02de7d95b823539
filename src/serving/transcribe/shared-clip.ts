import { abortable } from "../../core/abortable.ts";
import type { Clip } from "../../core/conversation.ts";
import { type RecogniseOptions, RecogniserError, type Transcript } from "../../core/recogniser.ts";
import { clipSound, type Sound } from "../../core/sound.ts";
import { type Stop, stopWith } from "../../core/stop-with.ts";
import type { KeyedSemaphore, Permit } from "../../limits/keyed-semaphore.ts";

/**
 * One clip that is heard for everybody who asks for it. Each of them waits in the line of its own key; whoever is let in
 * first has it heard for all, and the others leave their lines. One who goes stops nothing for the others, and the last
 * one stops it; but one who only has no more patience has it heard to the end of a piece, so that it is further when they
 * ask again. What is heard are the samples of somebody who still asks: whoever leaves may give theirs away.
 */
export class SharedClip {
  readonly #places: KeyedSemaphore;
  readonly #recognise: Recognises;
  readonly #onOver: () => void;
  readonly #stop = new AbortController();
  readonly #inLine = new Set<Stop>();
  readonly #waiting: Clip[] = [];
  /** Of somebody who asks; of whoever left last, where nobody does. */
  #owned: Clip;
  #heard: Promise<Transcript> | null = null;
  #lingering: NodeJS.Timeout | undefined;

  /**
   * @param onOver called when nobody can join any more, and perhaps again: it was heard or it failed, and when everybody
   *   has gone
   */
  constructor(clip: Clip, places: KeyedSemaphore, recognise: Recognises, onOver: () => void) {
    this.#owned = clip;
    this.#places = places;
    this.#recognise = recognise;
    this.#onOver = onOver;
  }

  /**
   * @param clip the caller's own
   * @param onBegin called when it is being heard, at once where it already is
   * @throws what {@link KeyedSemaphore.enter} and the recogniser throw; the signal's reason as soon as that aborts
   */
  async join(
    clip: Clip,
    keyId: string,
    signal: AbortSignal,
    onBegin: () => void,
    traceHeaders: TraceHeaders,
  ): Promise<Transcript> {
    this.#waiting.push(clip);
    this.#owned = this.#waiting[0]!;
    try {
      if (this.#heard === null) await this.#getIn(keyId, signal, traceHeaders);
      onBegin();
      return await abortable(this.#heard!, signal);
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(clip), 1);
      this.#owned = this.#waiting[0] ?? clip;
      if (this.#waiting.length === 0) this.#letGo(signal.reason);
    }
  }

  /** Waits until it is being heard, for whomever. */
  async #getIn(keyId: string, signal: AbortSignal, traceHeaders: TraceHeaders): Promise<void> {
    const line = stopWith([signal]);
    this.#inLine.add(line);
    try {
      const place = await this.#places.enter(keyId, 1, line.signal);
      // Two may be let in at once.
      if (this.#heard === null) this.#begin(place, traceHeaders);
      else place.release();
    } catch (error) {
      if (error !== BEGUN) throw error;
    } finally {
      this.#inLine.delete(line);
      line.end();
    }
  }

  #begin(place: Permit, traceHeaders: TraceHeaders): void {
    const { signal } = this.#stop;
    const sound = clipSound(this.#owned, () => this.#owned);
    const onPiece = (): void => {
      if (this.#waiting.length === 0) this.#end(NOBODY_WAITS);
    };
    // Not awaited past a stop: a recogniser that hangs must not hold the place.
    const heard = abortable(this.#recognise(sound, signal, onPiece, traceHeaders), signal).finally(() => {
      clearTimeout(this.#lingering);
      place.release();
      this.#onOver();
    });
    heard.catch(() => {});
    this.#heard = heard;
    for (const line of this.#inLine) line.abort(BEGUN);
  }

  #letGo(reason: unknown): void {
    clearTimeout(this.#lingering);
    if (reason instanceof WaitLimitError)
      this.#lingering = setTimeout(() => {
        if (this.#waiting.length === 0) this.#end(reason);
      }, LINGERING_MS);
    else this.#end(reason);
  }

  #end(reason: unknown): void {
    clearTimeout(this.#lingering);
    this.#onOver();
    this.#stop.abort(reason);
  }
}

/** Hears the clip. @param onPiece to be called when a piece of it is heard and kept */
type Recognises = (
  sound: Sound,
  signal: AbortSignal,
  onPiece: () => void,
  traceHeaders: TraceHeaders,
) => Promise<Transcript>;

/** Of the request that a clip is heard for: of those who share it, of the first that was let in. */
export type TraceHeaders = NonNullable<RecogniseOptions["traceHeaders"]>;

/** Why somebody leaves a clip who will ask for it again. */
export class WaitLimitError extends RecogniserError {}

/** Longer than any piece takes that is still worth it. */
const LINGERING_MS = 15_000;
const NOBODY_WAITS = new Error("nobody waits for it");
/** Why somebody leaves a line: it is being heard already. */
const BEGUN = new Error("it is being heard already");
