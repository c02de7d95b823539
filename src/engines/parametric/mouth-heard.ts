import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { Mouth, TimedName } from "../../model/speech-model.ts";
import { type FramedName, type MouthPlan, REST } from "./mouth.ts";
import { type Placement, sampleOf } from "./placement.ts";

/** What the mouth does over an utterance, as its audio is given. Between passages it rests. */
export class MouthHeard {
  readonly #maxSamples: number;
  #phonemes: Placed[] = [];
  #visemes: Placed[] = [];
  /** Until where the mouth's shape is known, in samples. */
  #known = 0;

  /** @param maxSamples the audio's longest: what would begin behind it is not told, and nothing ends behind it */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  place({ phonemes, visemes }: MouthPlan, placement: Placement): void {
    const place = ({ name, fromFrame, toFrame }: FramedName): Placed => ({
      name,
      from: sampleOf(placement, fromFrame),
      to: sampleOf(placement, toFrame),
    });
    const placed = visemes.map(place);
    this.rest(placed[0]?.from ?? this.#known);
    this.#visemes.push(...placed.filter((viseme) => this.#isHeard(viseme)));
    this.#phonemes.push(...phonemes.map(place).filter((phoneme) => this.#isHeard(phoneme)));
    this.#known = placed.at(-1)?.to ?? this.#known;
  }

  /** The mouth rests until a sample. */
  rest(untilSample: number): void {
    const rest = { name: REST, from: this.#known, to: untilSample };
    if (this.#isHeard(rest)) this.#visemes.push(rest);
    this.#known = Math.max(this.#known, untilSample);
  }

  /** What begins before a sample of the utterance and has not been given. */
  take(beforeSample: number): Mouth {
    const take = (waiting: Placed[]): [TimedName[], Placed[]] => {
      const begun = waiting.filter(({ from }) => from < beforeSample);
      return [begun.map((each) => this.#timed(each)), waiting.slice(begun.length)];
    };
    const [phonemes, phonemesLeft] = take(this.#phonemes);
    const [visemes, visemesLeft] = take(this.#visemes);
    this.#phonemes = phonemesLeft;
    this.#visemes = visemesLeft;
    return { phonemes, visemes };
  }

  #isHeard({ from, to }: Placed): boolean {
    return from < to && from < this.#maxSamples;
  }

  #timed({ name, from, to }: Placed): TimedName {
    return { name, startS: from / SAMPLE_RATE_HZ, endS: Math.min(to, this.#maxSamples) / SAMPLE_RATE_HZ };
  }
}

interface Placed {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}
