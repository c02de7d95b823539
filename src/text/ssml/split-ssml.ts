import { hasSpeakable } from "../characters.ts";
import { MAX_PASSAGE_CHARS, type Passage, splitAtSpaces } from "../sentences/passages.ts";
import { cutRunOn, splitSentences } from "../sentences/sentences.ts";
import { parseXml, type Tag, type XmlEvents } from "./xml.ts";

export interface SsmlPassage extends Passage {
  /** Start of each part in the passage and in the whole text, in UTF-16 units, in order. */
  readonly parts: readonly { readonly at: number; readonly from: number }[];
}

/**
 * Splits a long SSML text into documents: between sentences where possible, away from breaks, reopening the elements
 * that were open. Drops silent parts and what follows the last words. Linear in the text.
 *
 * @throws MarkupError for text that is not well-formed
 */
export function splitSsml(text: string): SsmlPassage[] {
  const cutter = new PassageCutter(text);
  parseXml(text, cutter);
  cutter.cut(text.length);
  return cutter.passages;
}

const WHOLE: ReadonlySet<string> = new Set(["sub", "say-as", "phoneme"]);
const SILENT: ReadonlySet<string> = new Set(["metadata", "desc"]);
const BLOCKS = /^(?:p|paragraph|s|sentence)$/;

/** Longest passage in UTF-16 units with its tags, as requests have a limit. Beyond it a sentence may be split. */
const MAX_CHARS = 5 * 1_024;
const MAX_RUN_CHARS = 2 * MAX_PASSAGE_CHARS;

class PassageCutter implements XmlEvents {
  readonly passages: SsmlPassage[] = [];
  readonly #text: string;
  readonly #open: Tag[] = [];
  #opening = "";
  #body = "";
  #parts: { at: number; from: number }[] = [];
  #hasWords = false;
  /** Whether the last words ended a sentence. */
  #isBetween = false;
  #endsInBreak = false;

  constructor(text: string) {
    this.#text = text;
  }

  text(from: number, to: number): void {
    if (this.#open.length > 0 && !this.#isSilent) this.#run(from, to, "", "");
  }

  verbatim(_from: number, _to: number, innerFrom: number, innerTo: number): void {
    if (!this.#isSilent) this.#run(innerFrom, innerTo, "<![CDATA[", "]]>");
  }

  open(tag: Tag): void {
    const isSilent = this.#isSilent || SILENT.has(tag.name);
    this.#open.push(tag);
    if (isSilent) return;
    if (this.#open.length === 1) this.#opening = this.#sourceOf(tag);
    else this.#add(tag.from, tag.to);
    this.#endsInBreak = tag.name === "break" || (this.#endsInBreak && tag.name === "mark");
  }

  close(name: string, from: number, to: number): void {
    const isSilent = this.#isSilent;
    this.#open.pop();
    if (this.#open.length === 0 || isSilent) return;
    this.#add(from, to);
    if (BLOCKS.test(name)) this.#isBetween = true;
  }

  other(): void {}

  /** Emits what has come as a passage, if it has words. @param readChars of the whole text */
  cut(readChars: number): void {
    if (!this.#hasWords) return;
    const closing =
      this.#open
        .map(({ name }) => `</${name}>`)
        .reverse()
        .join("") || "</speak>";
    const text = this.#opening + this.#body + closing;
    this.passages.push({ text, chapter: null, readChars, parts: this.#parts });
    this.#opening = this.#open.map((tag) => this.#sourceOf(tag)).join("");
    this.#body = "";
    this.#parts = [];
    this.#hasWords = false;
  }

  get #isSilent(): boolean {
    return this.#open.some(({ name }) => SILENT.has(name));
  }

  get #isWhole(): boolean {
    return this.#open.some(({ name }) => WHOLE.has(name));
  }

  #run(from: number, to: number, before: string, after: string): void {
    const run = this.#text.slice(from, to);
    const starts = this.#isWhole ? [] : splitSentences(run).flatMap(cutRunOn).slice(1);
    let at = 0;
    for (const end of [...starts.map((start) => start.from), run.length]) {
      for (const piece of splitAtSpaces(run.slice(at, end), MAX_RUN_CHARS)) {
        if (piece.trim() !== "") this.#cutBefore(from + at);
        this.#body += before;
        this.#add(from + at, from + at + piece.length);
        this.#body += after;
        if (piece.trim() !== "") this.#endsInBreak = false;
        this.#hasWords ||= hasSpeakable(piece);
        at += piece.length;
      }
      this.#isBetween =
        end < run.length || /[.!?…]["'”’)\]]*\s*$/.test(run.slice(Math.max(0, end - 20), end));
    }
  }

  #cutBefore(from: number): void {
    if (this.#isWhole) return;
    const isAtSeam = this.#isBetween && !this.#endsInBreak;
    const chars = this.#opening.length + this.#body.length;
    if (this.#body.length > (isAtSeam ? MAX_PASSAGE_CHARS : MAX_CHARS) || (isAtSeam && chars > MAX_CHARS))
      this.cut(from);
  }

  #add(from: number, to: number): void {
    this.#parts.push({ at: this.#opening.length + this.#body.length, from });
    this.#body += this.#text.slice(from, to);
  }

  #sourceOf({ from, to }: Tag): string {
    return this.#text.slice(from, to);
  }
}
