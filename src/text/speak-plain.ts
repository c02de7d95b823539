import { askedPauses, spokenText, type TextPiece, writtenText } from "../core/marked-text.ts";
import type { Script } from "../core/script.ts";
import type { Frame, SpeechReport, SpokenWord } from "../core/speech-model.ts";
import { RewrittenText } from "./rewritten-text.ts";

export type PlainItem = string | { readonly pauseS: number };

/** A text for an engine that cannot follow markup: words and pauses, with a mapping back to the text as sent. */
export class PlainText {
  readonly #pieces: AsyncIterable<TextPiece>;
  readonly #taken: TakenPiece[] = [];
  #items: PlainItem[] = [];
  #hasMarks = false;

  constructor(pieces: AsyncIterable<TextPiece>) {
    this.#pieces = pieces;
  }

  /** Words and pauses. Can be iterated once. */
  get text(): AsyncIterable<PlainItem> {
    return {
      [Symbol.asyncIterator]: () => {
        const pieces = this.#pieces[Symbol.asyncIterator]();
        return {
          next: async () => {
            while (this.#items.length === 0) {
              const { done, value } = await pieces.next();
              if (done === true) return { done, value: undefined };
              this.#items = this.#take(value);
            }
            return { done: false, value: this.#items.shift()! };
          },
          return: async () => {
            await pieces.return?.();
            return { done: true, value: undefined };
          },
        };
      },
    };
  }

  /** Maps a word of the plain text to the text as sent. */
  word(word: SpokenWord): SpokenWord {
    if (!this.#hasMarks) return word;
    const piece = this.#taken.findLast(({ spokenFrom }) => spokenFrom <= word.offset);
    return piece === undefined ? word : { ...word, ...piece.written(word) };
  }

  /** Maps the beginning of the plain text to the text as sent. */
  beginning(spoken: string): string {
    if (!this.#hasMarks) return spoken;
    let left = spoken.length;
    let sent = "";
    for (const piece of this.#taken) {
      if (left <= 0) break;
      sent += piece.beginning(left);
      left -= piece.spoken.length;
    }
    return sent;
  }

  #take(piece: TextPiece): PlainItem[] {
    this.#hasMarks ||= typeof piece !== "string";
    const last = this.#taken.at(-1);
    const taken = new TakenPiece(piece, last?.spokenTo ?? 0, last?.writtenTo ?? 0);
    this.#taken.push(taken);
    if (typeof piece === "string") return [piece];
    const items: PlainItem[] = [];
    let from = 0;
    for (const { at, pauseS } of askedPauses(piece)) {
      if (at > from) items.push(taken.spoken.slice(from, at));
      items.push({ pauseS });
      from = at;
    }
    if (from < taken.spoken.length) items.push(taken.spoken.slice(from));
    return items;
  }
}

/** A piece that was spoken. Offsets are code points of the whole text. */
class TakenPiece {
  readonly spoken: string;
  readonly spokenFrom: number;
  readonly spokenTo: number;
  readonly writtenTo: number;
  readonly #writtenFrom: number;
  readonly #original: string;
  readonly #traced: RewrittenText;
  /** Start of each code point of the spoken text in UTF-16 units, and the end. */
  readonly #units: readonly number[];

  constructor(piece: TextPiece, spokenFrom: number, writtenFrom: number) {
    const written = writtenText(piece);
    this.spoken = spokenText(piece);
    this.#original = written;
    this.#traced = RewrittenText.of(written).edited(typeof piece === "string" ? [] : piece.edits);
    this.#units = unitsOf(this.spoken);
    this.spokenFrom = spokenFrom;
    this.spokenTo = spokenFrom + this.#units.length - 1;
    this.#writtenFrom = writtenFrom;
    this.writtenTo = writtenFrom + Array.from(written).length;
  }

  written({ offset, length }: SpokenWord): Pick<SpokenWord, "word" | "offset" | "length"> {
    const from = this.#unit(offset - this.spokenFrom);
    const span = this.#traced.sourceOf({
      from,
      to: this.#unit(offset - this.spokenFrom + Math.max(1, length)),
    });
    const word = this.#original.slice(span.from, span.to);
    const before = Array.from(this.#original.slice(0, span.from)).length;
    return { word, offset: this.#writtenFrom + before, length: Array.from(word).length };
  }

  beginning(length: number): string {
    const to = Math.min(length, this.spoken.length);
    if (to === this.spoken.length) return this.#original;
    return this.#original.slice(0, this.#traced.sourceOf({ from: to - 1, to }).to);
  }

  #unit(place: number): number {
    return this.#units[Math.min(place, this.#units.length - 1)]!;
  }
}

function unitsOf(text: string): number[] {
  const units = [0];
  for (const character of text) units.push(units.at(-1)! + character.length);
  return units;
}

export type PlainScript = Omit<Script, "text"> & { readonly text: AsyncIterable<PlainItem> };

/**
 * Speaks a script with an engine that cannot follow markup, and maps what it reports to the text as sent. Ends,
 * throws and stops as the engine does.
 */
export async function* speakPlain(
  script: Script,
  speak: (script: PlainScript) => AsyncGenerator<Frame, SpeechReport, void>,
): AsyncGenerator<Frame, SpeechReport, void> {
  const pieces = new PlainText(script.text);
  const speech = speak({ ...script, text: pieces.text });
  let isOver = false;
  try {
    for (;;) {
      const step = await speech.next();
      if (step.done === true) {
        isOver = true;
        return { ...step.value, spoken: pieces.beginning(step.value.spoken) };
      }
      const { words } = step.value;
      yield words === undefined
        ? step.value
        : { ...step.value, words: words.map((word) => pieces.word(word)) };
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    if (!isOver) await speech.return({ stop: "finished", spoken: "" });
  }
}
