import { LruCache } from "../../audio/lru-cache.ts";
import { abortable } from "../../core/abortable.ts";
import { type AudioSource, clipSource } from "../../core/audio-source.ts";
import type { Clip } from "../../core/conversation.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../../core/recogniser.ts";
import { type Stopper, stopWith } from "../../core/stop-with.ts";
import type { KeyedSemaphore, Permit } from "../../limits/keyed-semaphore.ts";

/**
 * A recogniser for clips that come again and again: keys take turns, a clip that several ask for is heard once, what is
 * known of one is kept by its digest, and one that was heard in part is gone on with where that ended.
 */
export class ClipTranscriber {
  readonly #recogniser: Recogniser;
  readonly #places: KeyedSemaphore;
  readonly #known = new TranscriptCache(MAX_KNOWN);
  readonly #asked = new Map<string, SharedTranscription>();

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
  known({ digest }: Clip): CachedTranscript | null {
    return this.#known.get(digest);
  }

  /**
   * The whole clip's words.
   *
   * @param onBegin called when it is being heard, after the wait for a place; not for a clip that is known
   * @param traceHeaders go on to an endpoint, where it is heard for this caller first
   * @throws a `ServiceError` when too many wait, or the wait is too long; what the recogniser throws; the signal's reason
   */
  async transcribe(
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

  #ask(clip: Clip): SharedTranscription {
    const shared: SharedTranscription = new SharedTranscription(
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
    sound: AudioSource,
    signal: AbortSignal,
    onPiece: () => void,
    traceHeaders: TraceHeaders,
  ): Promise<Transcript> {
    const before = this.#known.get(digest)?.transcript ?? null;
    const keep = (later: Transcript, isLast: boolean): Transcript => {
      const transcript = joinTranscripts(before, later);
      this.#known.keep(digest, {
        transcript,
        isWhole: isLast || transcript.transcribedS >= durationS,
      });
      return transcript;
    };
    const options = {
      language: before?.language ?? null,
      prompt: null,
      wantsWords: false,
      draft: null,
      startAtS: before?.transcribedS ?? 0,
      traceHeaders,
      onPartial: (part: Transcript) => {
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
export interface CachedTranscript {
  readonly transcript: Transcript;
  /** Whether there is nothing more to hear of it. */
  readonly isWhole: boolean;
}

/** What was heard of the clips that were asked for last, by their digests, and how to go on where that is not all. */
export class TranscriptCache {
  readonly #clips: LruCache<CachedTranscript>;

  constructor(max: number) {
    this.#clips = new LruCache(max);
  }

  get(digest: string): CachedTranscript | null {
    return this.#clips.get(digest) ?? null;
  }

  /** Keeps what is known now, unless more is known already. */
  keep(digest: string, clip: CachedTranscript): void {
    const known = this.#clips.get(digest);
    const isLess = known !== undefined && known.transcript.transcribedS > clip.transcript.transcribedS;
    if (known?.isWhole !== true && (clip.isWhole || !isLess)) this.#clips.set(digest, clip);
  }
}

/** Two stretches of one clip as one; `later` begins where `earlier` was heard up to. */
export function joinTranscripts(earlier: Transcript | null, later: Transcript): Transcript {
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
    transcribedS: later.transcribedS,
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

/**
 * One clip that is heard for everybody who asks for it. Each of them waits in the line of its own key; whoever is let in
 * first has it heard for all, and the others leave their lines. One who goes stops nothing for the others, and the last
 * one stops it; but one who only has no more patience has it heard to the end of a piece, so that it is further when they
 * ask again. What is heard are the samples of somebody who still asks: whoever leaves may give theirs away.
 */
export class SharedTranscription {
  readonly #places: KeyedSemaphore;
  readonly #recognise: Recognises;
  readonly #onOver: () => void;
  readonly #stop = new AbortController();
  readonly #inLine = new Set<Stopper>();
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
    const sound = clipSource(this.#owned, () => this.#owned);
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
  sound: AudioSource,
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
