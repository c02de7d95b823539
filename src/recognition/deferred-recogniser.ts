import { abortable } from "../core/abortable.ts";
import type { AudioSource } from "../core/audio-source.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../core/recogniser.ts";

/** How a recogniser comes to be; both throw a {@link RecogniserError} that says what to do. */
interface RecogniserSource<Found> {
  /** Sees to it that what it takes is there, fetching it perhaps, and opens nothing. */
  find(): Promise<Found>;
  open(found: Found): Promise<Recogniser>;
  /** As {@link Recogniser.memoryBytesPerS} will be. */
  readonly memoryBytesPerS: number;
}

/**
 * A recogniser that is opened by the first clip, so that where none comes none takes memory, and that may not be there
 * yet: whatever failed is tried again by the next clip, so that weights which come later are found without a restart.
 */
export class DeferredRecogniser<Found = unknown> implements Recogniser {
  #name: string;
  readonly #opening: RecogniserSource<Found>;
  #finding: Promise<Found> | null = null;
  #recogniser: Promise<Recogniser> | null = null;
  #isFound = false;
  #canTranslate = true;
  #isClosed = false;

  constructor(name: string, opening: RecogniserSource<Found>) {
    this.#name = name;
    this.#opening = opening;
  }

  /** What it is called until it is open; from then on its own name. */
  get name(): string {
    return this.#name;
  }

  get memoryBytesPerS(): number {
    return this.#opening.memoryBytesPerS;
  }

  /** Until it is open nothing speaks against it, and what is opened refuses what it cannot. */
  get canTranslate(): boolean {
    return this.#canTranslate;
  }

  /** Whether what it takes was there when it was last looked for. */
  get isFound(): boolean {
    return this.#isFound;
  }

  /** Sees to it that it can be opened, and throws why not; calling it again after it was found is free. */
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
        this.#isFound = true;
        return found;
      },
      (error: unknown) => {
        this.#finding = null;
        throw error;
      },
    );
    return this.#finding;
  }

  #opened(): Promise<Recogniser> {
    if (this.#isClosed) return Promise.reject(new RecogniserError(CLOSED));
    this.#recogniser ??= this.#open().catch((error: unknown) => {
      // What was found is damaged, perhaps.
      [this.#recogniser, this.#finding, this.#isFound] = [null, null, false];
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
