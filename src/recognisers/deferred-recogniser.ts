import { abortable } from "../model/abortable.ts";
import type { Clip } from "../model/conversation.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../model/recogniser.ts";

/**
 * A recogniser that may not be there yet: opened by {@link DeferredRecogniser.prepare} or by the first clip that needs
 * it, and tried again by the next one when that failed, so that weights which come later are found without a restart.
 */
export class DeferredRecogniser implements Recogniser {
  #name: string;
  readonly #open: () => Promise<Recogniser>;
  #opening: Promise<Recogniser> | null = null;
  #isOpen = false;
  #isClosed = false;

  /** `open` throws a {@link RecogniserError} that says what to do. */
  constructor(name: string, open: () => Promise<Recogniser>) {
    this.#name = name;
    this.#open = open;
  }

  /** What it is called until it is open; from then on its own name. */
  get name(): string {
    return this.#name;
  }

  /** Whether it could hear a clip without being opened first. */
  get isReady(): boolean {
    return this.#isOpen && !this.#isClosed;
  }

  /** Opens it now. Throws what opening throws; calling it again while it opens, or once it is open, is free. */
  async prepare(): Promise<void> {
    await this.#opened();
  }

  async recognise(clip: Clip, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    const recogniser = await abortable(this.#opened(), signal);
    return await recogniser.recognise(clip, options, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const recogniser = await this.#opening?.catch(() => null);
    await recogniser?.close();
  }

  #opened(): Promise<Recogniser> {
    if (this.#isClosed) return Promise.reject(new RecogniserError("The recogniser is closed."));
    this.#opening ??= this.#open().then(
      (recogniser) => {
        this.#name = recogniser.name;
        this.#isOpen = true;
        return recogniser;
      },
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }
}
