import { LruCache } from "../collections/lru-cache.ts";
import type { Transcript } from "../model/recogniser.ts";

/** What is known of a clip. */
export interface KnownClip {
  readonly transcript: Transcript;
  /** Whether there is nothing more to hear of it. */
  readonly isWhole: boolean;
}

/** What was heard of the clips that were asked for last, by their digests, and how to go on where that is not all. */
export class HeardClips {
  readonly #clips: LruCache<KnownClip>;

  constructor(max: number) {
    this.#clips = new LruCache(max);
  }

  get(digest: string): KnownClip | null {
    return this.#clips.get(digest) ?? null;
  }

  /** Keeps what is known now, unless more is known already. */
  keep(digest: string, clip: KnownClip): void {
    const known = this.#clips.get(digest);
    const isLess = known !== undefined && known.transcript.heardS > clip.transcript.heardS;
    if (known?.isWhole !== true && (clip.isWhole || !isLess)) this.#clips.set(digest, clip);
  }
}

/** Two stretches of one clip as one; `later` begins where `earlier` was heard up to. */
export function joinedTranscripts(earlier: Transcript | null, later: Transcript): Transcript {
  if (earlier === null) return later;
  // Whoever speaks first tells the language.
  const leading = earlier.text === "" ? later : earlier;
  return {
    text: [earlier.text, later.text].filter((text) => text !== "").join(" "),
    language: leading.language,
    languageProbability: leading.languageProbability,
    speechProbability: greater(earlier.speechProbability, later.speechProbability),
    meanLogProbability: meanOf(earlier, later),
    segments: [...earlier.segments, ...later.segments],
    heardS: later.heardS,
  };
}

function greater(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** Of all tokens about: their number goes with that of the characters. */
function meanOf(one: Transcript, other: Transcript): number | null {
  if (one.meanLogProbability === null || other.meanLogProbability === null)
    return one.meanLogProbability ?? other.meanLogProbability;
  const share = one.text.length / Math.max(1, one.text.length + other.text.length);
  return share * one.meanLogProbability + (1 - share) * other.meanLogProbability;
}
