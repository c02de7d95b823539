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
 * Recogniser for recurring clips: keys take turns, a clip that several requests ask for is transcribed once,
 * transcripts are cached by the clip's digest, and a partly transcribed clip continues where it ended.
 */
export class ClipTranscriber {
  readonly #recogniser: Recogniser;
  readonly #places: KeyedSemaphore;
  readonly #known = new TranscriptCache(MAX_KNOWN);
  readonly #asked = new Map<string, SharedTranscription>();

  /** @param places limit on clips being transcribed */
  constructor(recogniser: Recogniser, places: KeyedSemaphore) {
    this.#recogniser = recogniser;
    this.#places = places;
  }

  get name(): string {
    return this.#recogniser.name;
  }

  /** Returns the cached transcript of a clip; `null` if there is none. */
  known({ digest }: Clip): CachedTranscript | null {
    return this.#known.get(digest);
  }

  /**
   * Transcribes a whole clip.
   *
   * @param onBegin called when transcription begins, after the wait for a place; not for a cached clip
   * @param traceHeaders passed to an endpoint if this request is the first for the clip
   * @throws a `ServiceError` if too many wait or the wait is too long; the recogniser's error; the signal's reason
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

  /** Refuses all waiting and further requests. Running transcriptions continue. */
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

/** Clips whose transcripts are cached. */
const MAX_KNOWN = 512;

export interface CachedTranscript {
  readonly transcript: Transcript;
  readonly isWhole: boolean;
}

/** Cache of the transcripts of recent clips by digest, complete or partial. */
export class TranscriptCache {
  readonly #clips: LruCache<CachedTranscript>;

  constructor(max: number) {
    this.#clips = new LruCache(max);
  }

  get(digest: string): CachedTranscript | null {
    return this.#clips.get(digest) ?? null;
  }

  /** Stores a transcript unless a longer one is cached. */
  keep(digest: string, clip: CachedTranscript): void {
    const known = this.#clips.get(digest);
    const isLess = known !== undefined && known.transcript.transcribedS > clip.transcript.transcribedS;
    if (known?.isWhole !== true && (clip.isWhole || !isLess)) this.#clips.set(digest, clip);
  }
}

/** Joins two parts of one clip's transcript; `later` begins where `earlier` ends. */
export function joinTranscripts(earlier: Transcript | null, later: Transcript): Transcript {
  if (earlier === null) return later;
  // The first speech decides the language.
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

/** Weighted by characters, which approximate the number of tokens. */
function meanOf(one: Transcript, other: Transcript): number | null {
  if (one.meanLogProbability === null || other.meanLogProbability === null)
    return one.meanLogProbability ?? other.meanLogProbability;
  const share = one.text.length / Math.max(1, one.text.length + other.text.length);
  return share * one.meanLogProbability + (1 - share) * other.meanLogProbability;
}

/**
 * Transcription of one clip, shared by all requests for it. Each request waits in its own key's line; the first to be
 * admitted starts the transcription, and the others then leave their lines. When the last request leaves, the
 * transcription stops; but if that request only ran out of patience, it continues to the end of a piece, so that the
 * next attempt starts further on. The samples are those of a waiting request: one that leaves may free its own.
 */
export class SharedTranscription {
  readonly #places: KeyedSemaphore;
  readonly #recognise: Recognises;
  readonly #onOver: () => void;
  readonly #stop = new AbortController();
  readonly #inLine = new Set<Stopper>();
  readonly #waiting: Clip[] = [];
  /** Clip of a waiting request, or of the last one that left. */
  #owned: Clip;
  #heard: Promise<Transcript> | null = null;
  #lingering: NodeJS.Timeout | undefined;

  /**
   * @param onOver called, maybe more than once, when no request can join any more: after success, failure, or the
   * last one's leaving
   */
  constructor(clip: Clip, places: KeyedSemaphore, recognise: Recognises, onOver: () => void) {
    this.#owned = clip;
    this.#places = places;
    this.#recognise = recognise;
    this.#onOver = onOver;
  }

  /**
   * @param clip the caller's own
   * @param onBegin called when transcription begins, or at once if it has begun
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

  async #getIn(keyId: string, signal: AbortSignal, traceHeaders: TraceHeaders): Promise<void> {
    const line = stopWith([signal]);
    this.#inLine.add(line);
    try {
      const place = await this.#places.enter(keyId, 1, line.signal);
      // Two requests may be admitted at once: only the first begins.
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
      if (this.#waiting.length === 0) this.#end(NO_WAITERS);
    };
    // Not awaited past a stop: a hanging recogniser must not hold the place.
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

/** Transcribes the clip. @param onPiece called when a piece of it is transcribed and cached */
type Recognises = (
  sound: AudioSource,
  signal: AbortSignal,
  onPiece: () => void,
  traceHeaders: TraceHeaders,
) => Promise<Transcript>;

/** Trace headers of the first request that was admitted. */
export type TraceHeaders = NonNullable<RecogniseOptions["traceHeaders"]>;

/** Reason for which a caller leaves a clip that it will request again. */
export class WaitLimitError extends RecogniserError {}

/** Milliseconds for which a piece may continue after the last request has left: more than a useful piece takes. */
const LINGERING_MS = 15_000;
const NO_WAITERS = new Error("no remaining waiters");
/** Reason for which a request leaves its line. */
const BEGUN = new Error("it is being transcribed already");
