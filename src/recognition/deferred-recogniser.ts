import { abortable } from "../core/abortable.ts";
import type { AudioSource } from "../core/audio-source.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../core/recogniser.ts";

/** Steps of opening a recogniser; both throw a {@link RecogniserError} that says what to do. */
interface RecogniserSource<Found> {
  /** Makes its files available, fetching them if needed, without opening them. */
  find(): Promise<Found>;
  open(found: Found): Promise<Recogniser>;
  readonly memoryBytesPerS: number;
}

/**
 * Opens a recogniser for the first clip, so an unused one takes no memory. Each failed step is retried by the next
 * clip: weights installed later are found without a restart.
 */
export class DeferredRecogniser<Found = unknown> implements Recogniser {
  #name: string;
  readonly #opening: RecogniserSource<Found>;
  #finding: Promise<Found> | null = null;
  #recogniser: Promise<Recogniser> | null = null;
  #isMissing = false;
  #canTranslate = true;
  #isClosed = false;

  constructor(name: string, opening: RecogniserSource<Found>) {
    this.#name = name;
    this.#opening = opening;
  }

  /** Placeholder name; once open, the recogniser's own. */
  get name(): string {
    return this.#name;
  }

  get memoryBytesPerS(): number {
    return this.#opening.memoryBytesPerS;
  }

  /** True until it is open: the opened recogniser rejects what it cannot do. */
  get canTranslate(): boolean {
    return this.#canTranslate;
  }

  /** Returns whether the recogniser's files are installed or being fetched. Looks again for files that were missing. */
  async isExpected(): Promise<boolean> {
    if (this.#isMissing) await this.prepare().catch(() => {});
    return !this.#isMissing;
  }

  /** Checks that the recogniser can be opened; throws the reason if not. Does nothing once it has succeeded. */
  async prepare(): Promise<void> {
    await this.#found();
  }

  async recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    const recogniser = await abortable(this.#opened(), signal);
    return await recogniser.recognise(sound, options, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const recogniser = await this.#recogniser?.catch(() => null);
    await recogniser?.close();
  }

  #found(): Promise<Found> {
    if (this.#isClosed) return Promise.reject(new RecogniserError(CLOSED));
    this.#finding ??= this.#opening.find().then(
      (found) => {
        this.#isMissing = false;
        return found;
      },
      (error: unknown) => {
        [this.#finding, this.#isMissing] = [null, true];
        throw error;
      },
    );
    return this.#finding;
  }

  #opened(): Promise<Recogniser> {
    if (this.#isClosed) return Promise.reject(new RecogniserError(CLOSED));
    this.#recogniser ??= this.#open().catch((error: unknown) => {
      // The files may be damaged: find them again.
      [this.#recogniser, this.#finding, this.#isMissing] = [null, null, true];
      throw error;
    });
    return this.#recogniser;
  }

  async #open(): Promise<Recogniser> {
    const recogniser = await this.#opening.open(await this.#found());
    this.#name = recogniser.name;
    this.#canTranslate = recogniser.canTranslate;
    return recogniser;
  }
}

const CLOSED = "The recogniser is closed. Retry when the server is up again.";
