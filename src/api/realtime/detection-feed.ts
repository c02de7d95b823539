import { joined } from "../../audio/joined.ts";
import type { InTurn } from "../../core/in-turn.ts";
import { type VoiceActivity, type VoiceActivityDetector, WINDOW_SAMPLES } from "../../core/turn-detection.ts";

/** Pieces of sound that the detector may be hearing before no more is taken. */
const MAX_PENDING = 8;

export interface DetectionFeedParts {
  readonly detector: VoiceActivityDetector;
  /** Makes a call of the detector when it is the key's turn. */
  readonly inTurn: InTurn;
  /** Windows that may be heard together just now. */
  readonly windowsTogether: () => number;
  /** Told of each window's probability of speech, in order; the first begins with that sample. */
  readonly onWindows: (probabilities: readonly number[], from: number) => void;
  /** @param count of failures on end, this one among them */
  readonly onFailure: (error: unknown, count: number) => void;
}

/**
 * Gives the detector a session's sound, as many windows at once as may be heard together. A detector that fails goes on
 * with the next piece.
 */
export class DetectionFeed {
  readonly #parts: DetectionFeedParts;
  readonly #voice: VoiceActivity;
  /** The sample that the detector began with, and how many it was given since. */
  #from = 0;
  #given = 0;
  /** What it is given with what comes next. */
  #gathered: Float32Array[] = [];
  #gatheredLength = 0;
  /** Counts resets: what was found in sound before one is void. */
  #epoch = 0;
  #pending = 0;
  #failures = 0;

  constructor(parts: DetectionFeedParts) {
    this.#parts = parts;
    this.#voice = parts.detector.open(parts.inTurn);
  }

  /** Whether the detector is behind: what {@link push} returns is to be waited for. */
  get isFull(): boolean {
    return this.#pending >= MAX_PENDING;
  }

  /** Whether the detector has yet to answer. */
  get isBusy(): boolean {
    return this.#pending > 0;
  }

  /** Resolves when what it was enough for has been heard. */
  async push(samples: Float32Array): Promise<void> {
    this.#gathered.push(samples);
    this.#gatheredLength += samples.length;
    const rest = this.#given % WINDOW_SAMPLES;
    if (rest + this.#gatheredLength < this.#parts.windowsTogether() * WINDOW_SAMPLES) return;
    const epoch = this.#epoch;
    const from = this.#from + this.#given - rest;
    const gathered = joined(this.#gathered);
    this.#clear();
    this.#given += gathered.length;
    this.#pending += 1;
    try {
      const probabilities = await this.#voice.push(gathered);
      if (probabilities.length > 0) this.#failures = 0;
      if (epoch === this.#epoch) this.#parts.onWindows(probabilities, from);
    } catch (error) {
      this.#failures += 1;
      this.#parts.onFailure(error, this.#failures);
    } finally {
      this.#pending -= 1;
    }
  }

  /** The detector begins anew with the sample that comes next, and all before it is void. */
  reset(next: number): void {
    this.#epoch += 1;
    this.#clear();
    this.#voice.reset();
    this.#from = next;
    this.#given = 0;
  }

  /** The detector forgets what it has heard. Nothing is void. */
  refresh(): void {
    this.#voice.reset();
    this.#from += this.#given;
    this.#given = 0;
  }

  #clear(): void {
    this.#gathered = [];
    this.#gatheredLength = 0;
  }
}
