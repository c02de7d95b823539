import type { BookTag, Chapter } from "../../audio/encode/chapters.ts";
import {
  type SegmentEncoder,
  type SegmentedFile,
  type SegmentedKind,
  segmentedFile,
} from "../../audio/encode/segmented-file.ts";
import type { WordTiming } from "../../contract/spoken.ts";
import { cuesOf, toSrt, toVtt } from "../../core/captions/captions.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import { PartialFile } from "./partial-file.ts";

/** Sound of a long text as a file in the making, a segment per passage. */
export class BookSound {
  readonly #part: PartialFile;
  readonly #form: SegmentedFile;
  #segment: SegmentEncoder | null = null;
  #samples: number;

  private constructor(part: PartialFile, form: SegmentedFile, samples: number) {
    this.#part = part;
    this.#form = form;
    this.#samples = samples;
  }

  /**
   * @param serial 32 bits that name the stream in Ogg
   * @param begun progress of an earlier run
   */
  static async open(
    file: string,
    kind: SegmentedKind,
    serial: number,
    begun: { readonly bytes: number; readonly samples: number },
  ): Promise<BookSound> {
    const part = await PartialFile.open(file, begun.bytes);
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

  /** Ends a passage, padded with silence to a whole segment. Resolves once it is on the disk. */
  async end(): Promise<void> {
    const { stepSamples } = this.#form;
    const missing = (stepSamples - (this.#samples % stepSamples)) % stepSamples;
    await this.add(new Uint8Array(2 * missing));
    await this.#part.write(this.#segment!.end());
    this.#free();
    await this.#part.flush();
  }

  /** Completes the file, with chapters and tags if its format has them. */
  async finish(chapters: readonly Chapter[], tags: readonly BookTag[]): Promise<void> {
    await this.#part.write(await this.#form.tail(this.#samples));
    const marked = chapters.length < 2 ? [] : chapters;
    const head = this.#form.finishedHead(this.#samples, this.bytes, marked, tags);
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

export interface CaptionForm {
  readonly ending: "vtt" | "srt";
  readonly hasWordTimes: boolean;
}

/** Captions of a long text as a file in the making. */
export class CaptionFile {
  readonly #form: CaptionForm;
  readonly #part: PartialFile;
  #cues: number;

  private constructor(form: CaptionForm, part: PartialFile, cues: number) {
    this.#form = form;
    this.#part = part;
    this.#cues = cues;
  }

  /** @param begun progress of an earlier run */
  static async open(
    file: string,
    form: CaptionForm,
    { captionBytes, cues }: { readonly captionBytes: number; readonly cues: number },
  ): Promise<CaptionFile> {
    const captions = new CaptionFile(form, await PartialFile.open(file, captionBytes), cues);
    if (captionBytes === 0 && form.ending === "vtt") await captions.#part.write(Buffer.from(HEAD));
    return captions;
  }

  get written(): { readonly captionBytes: number; readonly cues: number } {
    return { captionBytes: this.#part.bytes, cues: this.#cues };
  }

  /** @param atS start of the passage */
  async add(
    { text, line }: Pick<Passage, "text" | "line">,
    words: readonly WordTiming[],
    atS: number,
  ): Promise<void> {
    const later = words.map((word) => ({ ...word, start: word.start + atS, end: word.end + atS }));
    const own = cuesOf(later, text, { hasWordTimes: this.#form.hasWordTimes });
    const cues = line === undefined ? own : own.map((cue) => ({ ...cue, speaker: line.speaker }));
    const cued = this.#form.ending === "srt" ? toSrt(cues, this.#cues + 1) : toVtt(cues).slice(HEAD.length);
    await this.#part.write(Buffer.from(cued));
    this.#cues += cues.length;
  }

  finish(): Promise<void> {
    return this.#part.finish();
  }

  leave(): Promise<void> {
    return this.#part.leave();
  }

  remove(): Promise<void> {
    return this.#part.remove();
  }
}

const HEAD = toVtt([]);
