import { LruCache } from "../../audio/lru-cache.ts";
import type { Clip } from "../../core/conversation.ts";
import type { Recogniser, Transcript } from "../../core/recogniser.ts";
import type { Sound } from "../../core/sound.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import { SharedClip, type TraceHeaders } from "./shared-clip.ts";

/**
 * A recogniser for clips that come again and again: keys take turns, a clip that several ask for is heard once, what is
 * known of one is kept by its digest, and one that was heard in part is gone on with where that ended.
 */
export class ClipTranscriber {
  readonly #recogniser: Recogniser;
  readonly #places: KeyedSemaphore;
  readonly #known = new HeardClips(MAX_KNOWN);
  readonly #asked = new Map<string, SharedClip>();

  /** @param places clips being heard at once: of everybody, and of one key */
  constructor(recogniser: Recogniser, places: KeyedSemaphore) {
    this.#recogniser = recogniser;
    this.#places = places;
  }

  /** Who hears. */
  get name(): string {
    return this.#recogniser.name;
  }

  /** What is known of a clip by now; `null` is nothing. */
  known({ digest }: Clip): KnownClip | null {
    return this.#known.get(digest);
  }

  /**
   * The whole clip's words.
   *
   * @param onBegin called when it is being heard, after the wait for a place; not for a clip that is known
   * @param traceHeaders go on to an endpoint, where it is heard for this caller first
   * @throws a `ServiceError` when too many wait, or the wait is too long; what the recogniser throws; the signal's reason
   */
  async hear(
    clip: Clip,
    keyId: string,
    signal: AbortSignal,
    onBegin: () => void,
    traceHeaders: TraceHeaders = {},
  ): Promise<Transcript> {
    signal.throwIfAborted();
    const known = this.known(clip);
    if (known?.isWhole === true) return known.transcript;
    return await (this.#asked.get(clip.digest) ?? this.#ask(clip)).join(
      clip,
      keyId,
      signal,
      onBegin,
      traceHeaders,
    );
  }

  /** Refuses whoever waits and whoever comes. What is being heard goes on. */
  close(): void {
    this.#places.close();
  }

  #ask(clip: Clip): SharedClip {
    const shared: SharedClip = new SharedClip(
      clip,
      this.#places,
      (sound, signal, onPiece, traceHeaders) => this.#recognise(clip, sound, signal, onPiece, traceHeaders),
      () => {
        if (this.#asked.get(clip.digest) === shared) this.#asked.delete(clip.digest);
      },
    );
    this.#asked.set(clip.digest, shared);
    return shared;
  }

  async #recognise(
    { digest, durationS }: Clip,
    sound: Sound,
    signal: AbortSignal,
    onPiece: () => void,
    traceHeaders: TraceHeaders,
  ): Promise<Transcript> {
    const before = this.#known.get(digest)?.transcript ?? null;
    const keep = (later: Transcript, isLast: boolean): Transcript => {
      const transcript = joinedTranscripts(before, later);
      this.#known.keep(digest, {
        transcript,
        isWhole: isLast || transcript.heardS >= durationS,
      });
      return transcript;
    };
    const options = {
      language: before?.language ?? null,
      prompt: null,
      wantsWords: false,
      draft: null,
      startAtS: before?.heardS ?? 0,
      traceHeaders,
      onPart: (part: Transcript) => {
        keep(part, false);
        onPiece();
      },
    };
    return keep(await this.#recogniser.recognise(sound, options, signal), true);
  }
}

/** Clips whose words are kept. */
const MAX_KNOWN = 512;

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
