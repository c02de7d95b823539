import type { Chapter } from "../../audio/encode/chapters.ts";
import {
  type SegmentEncoder,
  type SegmentedFile,
  type SegmentedKind,
  segmentedFile,
} from "../../audio/encode/segmented-file.ts";
import { PartFile } from "./part-file.ts";

/** The sound of a long text, as the file that it is to be: a passage is a segment of it. */
export class BookSound {
  readonly #part: PartFile;
  readonly #form: SegmentedFile;
  #segment: SegmentEncoder | null = null;
  #samples: number;

  private constructor(part: PartFile, form: SegmentedFile, samples: number) {
    this.#part = part;
    this.#form = form;
    this.#samples = samples;
  }

  /**
   * @param serial 32 bits, which name the stream in Ogg
   * @param begun how far it was written before
   */
  static async open(
    file: string,
    kind: SegmentedKind,
    serial: number,
    begun: { readonly bytes: number; readonly samples: number },
  ): Promise<BookSound> {
    const part = await PartFile.open(file, begun.bytes);
    const form = segmentedFile(kind, serial);
    if (begun.bytes === 0) await part.write(form.head());
    return new BookSound(part, form, begun.samples);
  }

  get bytes(): number {
    return this.#part.bytes;
  }

  get samples(): number {
    return this.#samples;
  }

  async begin(): Promise<void> {
    this.#segment = await this.#form.segment(this.#samples);
  }

  /** @param pcm 16-bit, 24 kHz, mono, little-endian */
  async add(pcm: Uint8Array): Promise<void> {
    this.#samples += pcm.length / 2;
    const bytes = this.#segment!.push(new Int16Array(pcm.slice().buffer));
    if (bytes.length > 0) await this.#part.write(bytes);
  }

  /** Ends a passage, with as much silence as makes it a segment. Resolves when it lies on the disk. */
  async end(): Promise<void> {
    const { stepSamples } = this.#form;
    const missing = (stepSamples - (this.#samples % stepSamples)) % stepSamples;
    await this.add(new Uint8Array(2 * missing));
    await this.#part.write(this.#segment!.end());
    this.#free();
    await this.#part.flush();
  }

  /** Makes it whole, with its chapters where its kind has them. */
  async finish(chapters: readonly Chapter[]): Promise<void> {
    await this.#part.write(await this.#form.tail(this.#samples));
    const head = this.#form.finishedHead(this.#samples, this.bytes, chapters.length < 2 ? [] : chapters);
    await this.#part.finish(head, this.#form.head().length);
  }

  async leave(): Promise<void> {
    this.#free();
    await this.#part.leave();
  }

  async remove(): Promise<void> {
    this.#free();
    await this.#part.remove();
  }

  #free(): void {
    this.#segment?.free();
    this.#segment = null;
  }
}
