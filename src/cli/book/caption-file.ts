import type { SpokenWord } from "../../contract/spoken.ts";
import { cuesOf, toSrt, toVtt } from "../../core/captions/captions.ts";
import { PartFile } from "./part-file.ts";

export interface CaptionForm {
  readonly ending: "vtt" | "srt";
  readonly hasWordTimes: boolean;
}

/** Captions that are written passage by passage. */
export class CaptionFile {
  readonly #form: CaptionForm;
  readonly #part: PartFile;
  #cues: number;

  private constructor(form: CaptionForm, part: PartFile, cues: number) {
    this.#form = form;
    this.#part = part;
    this.#cues = cues;
  }

  /** @param begun how far they were written before, where the speech goes on */
  static async open(
    file: string,
    form: CaptionForm,
    { captionBytes, cues }: { readonly captionBytes: number; readonly cues: number },
  ): Promise<CaptionFile> {
    const captions = new CaptionFile(form, await PartFile.open(file, captionBytes), cues);
    if (captionBytes === 0 && form.ending === "vtt") await captions.#part.write(Buffer.from(HEAD));
    return captions;
  }

  get written(): { readonly captionBytes: number; readonly cues: number } {
    return { captionBytes: this.#part.bytes, cues: this.#cues };
  }

  /** @param atS when the passage begins */
  async add(text: string, words: readonly SpokenWord[], atS: number): Promise<void> {
    const later = words.map((word) => ({ ...word, start: word.start + atS, end: word.end + atS }));
    const cues = cuesOf(later, text, { hasWordTimes: this.#form.hasWordTimes });
    const told = this.#form.ending === "srt" ? toSrt(cues, this.#cues + 1) : toVtt(cues).slice(HEAD.length);
    await this.#part.write(Buffer.from(told));
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
