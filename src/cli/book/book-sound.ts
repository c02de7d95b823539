import { createReadStream } from "node:fs";
import { rename } from "node:fs/promises";
import type { BookTag, Chapter } from "../../audio/encode/chapters.ts";
import { NOTHING } from "../../audio/encode/encoder.ts";
import { beforeMp3 } from "../../audio/encode/mp3.ts";
import {
  type SegmentEncoder,
  type SegmentedFile,
  type SegmentedKind,
  segmentedFile,
} from "../../audio/encode/segmented-file.ts";
import { normaliseLoudness } from "../../audio/normalise-loudness.ts";
import { fromPcm16, pcm16Bytes, toPcm16 } from "../../audio/pcm.ts";
import type { WordTiming } from "../../contract/spoken.ts";
import { cuesOf, toSrt, toVtt } from "../../core/captions/captions.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import { PartialFile, partialPath } from "./partial-file.ts";

interface SoundForm {
  readonly kind: SegmentedKind;
  /** 32 bits that name the stream in Ogg. */
  readonly serial: number;
  /** Integrated loudness in LUFS; `null`: as it is. */
  readonly loudness: number | null;
}

/**
 * Sound of a long text as a file in the making, a segment per passage. For a loudness, the part has raw samples until
 * all are there.
 */
export class BookSound {
  readonly #file: string;
  readonly #part: PartialFile;
  readonly #asked: SoundForm;
  readonly #form: SegmentedFile;
  #segment: SegmentEncoder | null = null;
  #samples: number;

  private constructor(file: string, part: PartialFile, asked: SoundForm, samples: number) {
    const { kind, serial, loudness } = asked;
    this.#file = file;
    this.#part = part;
    this.#asked = asked;
    this.#form = loudness === null ? segmentedFile(kind, serial) : RAW;
    this.#samples = samples;
  }

  /** @param begun progress of an earlier run */
  static async open(
    file: string,
    form: SoundForm,
    begun: { readonly bytes: number; readonly samples: number },
  ): Promise<BookSound> {
    const part = await PartialFile.open(file, begun.bytes);
    const sound = new BookSound(file, part, form, begun.samples);
    if (begun.bytes === 0) await part.write(sound.#form.head());
    return sound;
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
    const { loudness } = this.#asked;
    if (loudness !== null) return await this.#finishLevelled(loudness, chapters, tags);
    await this.#part.write(await this.#form.tail(this.#samples));
    const marked = chapters.length < 2 ? [] : chapters;
    const head = this.#form.finishedHead(this.#samples, this.bytes, marked, tags);
    await this.#part.finish(head, this.#form.head().length);
  }

  /** Encodes the raw samples at their new loudness, and keeps them until that is done. */
  async #finishLevelled(
    targetLufs: number,
    chapters: readonly Chapter[],
    tags: readonly BookTag[],
  ): Promise<void> {
    const raw = partialPath(this.#file);
    const rawLufs = this.#asked.kind === "mp3" ? beforeMp3(targetLufs) : targetLufs;
    const levelled = await BookSound.open(`${raw}.levelled`, { ...this.#asked, loudness: null }, NOTHING_YET);
    try {
      await levelled.begin();
      for await (const samples of normaliseLoudness(() => samplesIn(raw), rawLufs))
        await levelled.add(pcm16Bytes(toPcm16(samples)));
      await levelled.end();
      await levelled.finish(chapters, tags);
    } catch (error) {
      await levelled.remove();
      throw error;
    }
    await rename(levelled.#file, this.#file);
    await this.remove();
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

const NOTHING_YET = { bytes: 0, samples: 0 };
/** Samples without a container. */
const RAW: SegmentedFile = { ...segmentedFile("wav", 0), head: () => NOTHING };

async function* samplesIn(file: string): AsyncGenerator<Float32Array, void, void> {
  for await (const bytes of createReadStream(file, { highWaterMark: RAW_CHUNK_BYTES }))
    yield fromPcm16(new Int16Array(Uint8Array.from(bytes as Uint8Array).buffer));
}

const RAW_CHUNK_BYTES = 1 << 16;

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
