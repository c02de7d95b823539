import { MAX_PASSAGE_CHARS, type Passage } from "../passages.ts";
import { cutRunOn } from "../run-on.ts";
import { splitSentences } from "../sentences.ts";
import { hasSpeakable } from "../speakable.ts";
import { readXml, type Tag, type XmlEvents } from "./xml.ts";

/**
 * Cuts a long SSML text into documents that are spoken one after the other: between sentences, and with the elements that are
 * open there begun again. What has no words behind the last is left out. Linear in the text.
 *
 * @throws MarkupError for what is not well-formed
 */
export function ssmlPassages(text: string): Passage[] {
  const cutter = new PassageCutter(text);
  readXml(text, cutter);
  cutter.cut(text.length);
  return cutter.passages;
}

/** Elements whose text is not cut. */
const WHOLE: ReadonlySet<string> = new Set(["sub", "say-as", "phoneme", "metadata", "desc"]);

class PassageCutter implements XmlEvents {
  readonly passages: Passage[] = [];
  readonly #text: string;
  readonly #open: Tag[] = [];
  #opening = "";
  #body = "";
  #hasWords = false;

  constructor(text: string) {
    this.#text = text;
  }

  text(from: number, to: number): void {
    if (this.#open.length === 0) return;
    const run = this.#text.slice(from, to);
    const starts = this.#isWhole ? [] : splitSentences(run).flatMap(cutRunOn).slice(1);
    let at = 0;
    for (const { from: start } of starts) {
      this.#add(run.slice(at, start));
      this.#cutIfLong(from + start);
      at = start;
    }
    this.#add(run.slice(at));
  }

  verbatim(from: number, to: number): void {
    this.#add(this.#text.slice(from, to));
  }

  open(tag: Tag): void {
    this.#open.push(tag);
    if (this.#open.length === 1) this.#opening = this.#sourceOf(tag);
    else this.#body += this.#sourceOf(tag);
  }

  close(name: string, from: number, to: number): void {
    this.#open.pop();
    if (this.#open.length === 0) return;
    this.#body += this.#text.slice(from, to);
    if (/^(?:p|paragraph|s|sentence)$/.test(name)) this.#cutIfLong(to);
  }

  other(): void {}

  /** What has come is a passage of its own, if it has words. @param readChars of all of the text */
  cut(readChars: number): void {
    if (!this.#hasWords) return;
    const closing =
      this.#open
        .map(({ name }) => `</${name}>`)
        .reverse()
        .join("") || "</speak>";
    this.passages.push({ text: this.#opening + this.#body + closing, chapter: null, readChars });
    this.#opening = this.#open.map((tag) => this.#sourceOf(tag)).join("");
    this.#body = "";
    this.#hasWords = false;
  }

  get #isWhole(): boolean {
    return this.#open.some(({ name }) => WHOLE.has(name));
  }

  #cutIfLong(readChars: number): void {
    if (this.#body.length > MAX_PASSAGE_CHARS && !this.#isWhole) this.cut(readChars);
  }

  #add(text: string): void {
    this.#body += text;
    this.#hasWords ||= hasSpeakable(text);
  }

  #sourceOf({ from, to }: Tag): string {
    return this.#text.slice(from, to);
  }
}
