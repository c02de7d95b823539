import { abortable } from "../model/abortable.ts";
import type { Transcript } from "../model/recogniser.ts";
import { type Stop, stopWith } from "../model/stop-with.ts";
import type { FairShare, Holding } from "./fair-share.ts";

/**
 * One clip that is heard for everybody who asks for it. Each of them waits in the line of its own key; whoever is let in
 * first has it heard for all, and the others leave their lines. One who goes stops nothing for the others, and the last
 * one stops it.
 */
export class SharedClip {
  readonly #places: FairShare;
  readonly #recognise: (signal: AbortSignal) => Promise<Transcript>;
  readonly #onOver: () => void;
  readonly #stop = new AbortController();
  readonly #inLine = new Set<Stop>();
  #asking = 0;
  #heard: Promise<Transcript> | null = null;

  /** @param onOver called once nobody can join any more: it was heard, it failed, or everybody has gone */
  constructor(
    places: FairShare,
    recognise: (signal: AbortSignal) => Promise<Transcript>,
    onOver: () => void,
  ) {
    this.#places = places;
    this.#recognise = recognise;
    this.#onOver = onOver;
  }

  /**
   * @param onBegin called when it is being heard, at once where it already is
   * @throws what {@link FairShare.enter} and the recogniser throw; the signal's reason as soon as that aborts
   */
  async join(keyId: string, signal: AbortSignal, onBegin: () => void): Promise<Transcript> {
    this.#asking++;
    try {
      if (this.#heard === null) await this.#getIn(keyId, signal);
      onBegin();
      return await abortable(this.#heard!, signal);
    } finally {
      this.#asking--;
      if (this.#asking === 0) this.#end(signal.reason);
    }
  }

  /** Waits until it is being heard, for whomever. */
  async #getIn(keyId: string, signal: AbortSignal): Promise<void> {
    const line = stopWith([signal]);
    this.#inLine.add(line);
    try {
      const place = await this.#places.enter(keyId, 1, line.signal);
      // Two may be let in at once.
      if (this.#heard === null) this.#begin(place);
      else place.release();
    } catch (error) {
      if (error !== BEGUN) throw error;
    } finally {
      this.#inLine.delete(line);
      line.end();
    }
  }

  #begin(place: Holding): void {
    const { signal } = this.#stop;
    // Not awaited past a stop: a recogniser that hangs must not hold the place.
    const heard = abortable(this.#recognise(signal), signal).finally(() => {
      place.release();
      this.#onOver();
    });
    heard.catch(() => {});
    this.#heard = heard;
    for (const line of this.#inLine) line.abort(BEGUN);
  }

  #end(reason: unknown): void {
    this.#onOver();
    this.#stop.abort(reason);
  }
}

/** Why somebody leaves a line: it is being heard already. */
const BEGUN = new Error("it is being heard already");
