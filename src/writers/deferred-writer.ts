import { abortable } from "../core/abortable.ts";
import { type Dialogue, type Writer, WriterError, type WrittenPart } from "../core/writer.ts";

/**
 * Opens a writer in {@link DeferredWriter.prepare} or for the first turn, and again for the next turn after a
 * failure: weights installed later are found without a restart.
 */
export class DeferredWriter implements Writer {
  #name: string;
  #callsTools: () => boolean;
  readonly #open: () => Promise<Writer>;
  #opening: Promise<Writer> | null = null;
  #isClosed = false;

  /**
   * @param open throws a {@link WriterError} that says what to do
   * @param callsTools expected value until it is open
   */
  constructor(name: string, open: () => Promise<Writer>, callsTools = false) {
    this.#name = name;
    this.#callsTools = () => callsTools;
    this.#open = open;
  }

  /** Placeholder name; once open, the writer's own. */
  get name(): string {
    return this.#name;
  }

  get callsTools(): boolean {
    return this.#callsTools();
  }

  /** Opens it now, once. Throws what opening throws. */
  async prepare(): Promise<void> {
    await this.#opened();
  }

  async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart> {
    const writer = await abortable(this.#opened(), signal);
    yield* writer.write(dialogue, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const writer = await this.#opening?.catch(() => null);
    await writer?.close();
  }

  #opened(): Promise<Writer> {
    if (this.#isClosed) return Promise.reject(new WriterError("the writer was closed"));
    this.#opening ??= this.#open().then(
      (writer) => {
        this.#name = writer.name;
        this.#callsTools = () => writer.callsTools === true;
        return writer;
      },
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }
}
