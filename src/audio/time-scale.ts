import { joinSamples } from "./pcm.ts";

/**
 * Changes the tempo of streamed speech at 24 kHz without its pitch: overlaps windows of 40 ms, each taken from where
 * the input best continues the previous one (WSOLA: Verhelst and Roelands, ICASSP 1993).
 *
 * Returns round(length / tempo) samples in all; output sample k is about input sample k · tempo, at most 10 ms off.
 */
export class TimeScale {
  readonly #tempo: number;
  /** Input that is still needed; starts at input sample `#keptFrom`. */
  #kept: Float32Array = new Float32Array(0);
  #keptFrom = 0;
  #received = 0;
  #given = 0;
  /** Windows placed so far, and the input position of the last one. */
  #windows = 0;
  #last: number | null = null;

  /** @param tempo 0.5 to 2; above 1 is faster */
  constructor(tempo: number) {
    this.#tempo = tempo;
  }

  /** Returns the output that the input so far allows; may be empty. */
  push(samples: Float32Array): Float32Array {
    this.#received += samples.length;
    this.#kept = joinSamples([this.#kept, samples]);
    return this.#placeWindows(Math.floor(this.#received / this.#tempo), HALF_SAMPLES);
  }

  /** Returns the rest, once. */
  end(): Float32Array {
    // Windows may reach past the end, into silence.
    this.#kept = joinSamples([this.#kept, new Float32Array(2 * WINDOW_SAMPLES + SEARCH_SAMPLES)]);
    return this.#placeWindows(Math.round(this.#received / this.#tempo), 1);
  }

  /**
   * Places windows as far as the input reaches, up to `max` outputs in all, while at least `least` are still to come.
   */
  #placeWindows(max: number, least: number): Float32Array {
    const pieces: Float32Array[] = [];
    while (this.#given + least <= max) {
      const wanted = Math.round(this.#windows * HALF_SAMPLES * this.#tempo);
      const goesOn = this.#last === null ? wanted : this.#last + HALF_SAMPLES;
      const reach = Math.max(wanted + SEARCH_SAMPLES, goesOn) + HALF_SAMPLES;
      if (reach > this.#keptFrom + this.#kept.length) break;
      const from = this.#last === null ? wanted : this.#nearest(wanted, goesOn);
      const piece = this.#crossfade(goesOn, from).subarray(0, max - this.#given);
      pieces.push(piece);
      this.#given += piece.length;
      this.#last = from;
      this.#windows += 1;
      this.#forget();
    }
    return joinSamples(pieces);
  }

  /** Fades from the end of one window into the beginning of the next. */
  #crossfade(goesOn: number, from: number): Float32Array {
    const before = this.#kept.subarray(goesOn - this.#keptFrom);
    const next = this.#kept.subarray(from - this.#keptFrom);
    return FADE.map((share, at) => before[at]! + share * (next[at]! - before[at]!));
  }

  /**
   * Finds where around `wanted` the input is most similar to that from `goesOn` on: coarsely first, then to the
   * sample.
   */
  #nearest(wanted: number, goesOn: number): number {
    const first = Math.max(this.#keptFrom, wanted - SEARCH_SAMPLES);
    const last = wanted + SEARCH_SAMPLES;
    // In silence all places are alike: keep the wanted one.
    let best = wanted;
    let most = this.#similarity(wanted, goesOn);
    const look = (from: number, to: number, step: number): void => {
      for (let place = from; place <= to; place += step) {
        const similarity = this.#similarity(place, goesOn);
        if (similarity <= most) continue;
        most = similarity;
        best = place;
      }
    };
    look(first, last, COARSE_SAMPLES);
    look(Math.max(first, best - COARSE_SAMPLES), Math.min(last, best + COARSE_SAMPLES), 1);
    return best;
  }

  /** Similarity of the input at two places: their dot product over the root of the first one's energy. */
  #similarity(place: number, reference: number): number {
    const kept = this.#kept;
    const at = place - this.#keptFrom;
    const other = reference - this.#keptFrom;
    let product = 0;
    let energy = FAINT;
    for (let i = 0; i < HALF_SAMPLES; i += COMPARED_STEP) {
      const sample = kept[at + i]!;
      product += sample * kept[other + i]!;
      energy += sample * sample;
    }
    return product / Math.sqrt(energy);
  }

  #forget(): void {
    const wanted = Math.round(this.#windows * HALF_SAMPLES * this.#tempo) - SEARCH_SAMPLES;
    const needed = Math.max(this.#keptFrom, Math.min(this.#last! + HALF_SAMPLES, wanted));
    if (needed - this.#keptFrom < MIN_FORGOTTEN) return;
    this.#kept = this.#kept.slice(needed - this.#keptFrom);
    this.#keptFrom = needed;
  }
}

/** 40 ms: two periods of the deepest voice. */
const WINDOW_SAMPLES = 960;
const HALF_SAMPLES = WINDOW_SAMPLES / 2;
/** 10 ms to either side: a period of a voice at 50 Hz. */
const SEARCH_SAMPLES = 240;
const COARSE_SAMPLES = 8;
/** Every third sample is enough: similarity shows below 4 kHz. */
const COMPARED_STEP = 3;
const FAINT = 1e-6;
/** Fewer samples are not worth a copy. */
const MIN_FORGOTTEN = 2_048;

const FADE = Float32Array.from(
  { length: HALF_SAMPLES },
  (_, at) => Math.sin((Math.PI / 2) * ((at + 0.5) / HALF_SAMPLES)) ** 2,
);
