import { type Chapter, chapterComments, id3Chapters } from "../../audio/encode/chapters.ts";
import type { Encoder, Encoding } from "../../audio/encode/encoder.ts";
import { oggOpusHead } from "../../audio/encode/ogg-opus.ts";
import { openEncoder } from "../../audio/encode/open-encoder.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { wavHeader } from "../../audio/wav-write.ts";
import { PartFile } from "./part-file.ts";

/** The sound of a long text, as the file that it is to be. */
export class BookSound {
  readonly #part: PartFile;
  readonly #encoding: Encoding;
  readonly #serial: number;
  /** None for a WAV, whose samples are written as they are. */
  readonly #encoder: Encoder | null;
  #samples: number;

  private constructor(
    part: PartFile,
    encoding: Encoding,
    serial: number,
    encoder: Encoder | null,
    samples: number,
  ) {
    this.#part = part;
    this.#encoding = encoding;
    this.#serial = serial;
    this.#encoder = encoder;
    this.#samples = samples;
  }

  /**
   * @param serial 32 bits, which name the stream in Ogg
   * @param begun how far a WAV was written before
   */
  static async open(
    file: string,
    encoding: Encoding,
    serial: number,
    begun: { readonly bytes: number; readonly samples: number },
  ): Promise<BookSound> {
    const part = await PartFile.open(file, begun.bytes);
    const encoder = encoding === "wav" ? null : await openEncoder(encoding, serial);
    if (begun.bytes === 0) await part.write(encoder?.head() ?? wavHeader(0, SAMPLE_RATE_HZ));
    return new BookSound(part, encoding, serial, encoder, begun.samples);
  }

  get bytes(): number {
    return this.#part.bytes;
  }

  get samples(): number {
    return this.#samples;
  }

  /** @param pcm 16-bit, 24 kHz, mono, little-endian */
  async add(pcm: Uint8Array): Promise<void> {
    this.#samples += pcm.length / 2;
    if (this.#encoder === null) return this.#part.write(pcm);
    const samples = new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length));
    const bytes = this.#encoder.push(samples);
    if (bytes.length > 0) await this.#part.write(bytes);
  }

  flush(): Promise<void> {
    return this.#part.flush();
  }

  /** Makes it whole, with its chapters where its kind has them. */
  async finish(chapters: readonly Chapter[]): Promise<void> {
    if (this.#encoder === null) {
      await this.#part.finish(wavHeader(2 * this.#samples, SAMPLE_RATE_HZ));
      return;
    }
    await this.#part.write(this.#encoder.end());
    const [head, finished] = [this.#encoder.head(), this.#encoder.finishedHead()];
    this.#encoder.free();
    await this.#part.finish(
      chapters.length < 2 ? finished : this.#withChapters(chapters, finished),
      head.length,
    );
  }

  async leave(): Promise<void> {
    this.#encoder?.free();
    await this.#part.leave();
  }

  async remove(): Promise<void> {
    this.#encoder?.free();
    await this.#part.remove();
  }

  #withChapters(chapters: readonly Chapter[], head: Uint8Array): Uint8Array {
    if (this.#encoding === "mp3") return id3Chapters(chapters, this.#samples / SAMPLE_RATE_HZ);
    return this.#encoding === "opus" ? oggOpusHead(this.#serial, chapterComments(chapters)) : head;
  }
}
