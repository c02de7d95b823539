import type { Marks, PhonemeTiming, VisemeTiming, WordTiming } from "../../contract/spoken.ts";
import type { EncodedPiece, Mouth, SpokenWord as Word } from "../../core/speech-model.ts";

/** Chunk of a reply: bytes of its file, and the marks that begin in the speech they hold. */
export interface ReplyChunk {
  readonly bytes: Uint8Array;
  readonly marks: Marks;
}

export function toReplyChunk({ bytes, words, mouth }: EncodedPiece): ReplyChunk {
  return {
    bytes,
    marks: {
      ...(words === undefined ? {} : { words: words.map(wordOf) }),
      ...(mouth === undefined ? {} : mouthOf(mouth)),
    },
  };
}

/** Collects the marks of a reply and merges equal visemes that meet. */
export class MarkCollector {
  #words: WordTiming[] | undefined;
  #visemes: VisemeTiming[] | undefined;
  #phonemes: PhonemeTiming[] | undefined;

  add({ words, visemes, phonemes }: Marks): void {
    if (words !== undefined) {
      this.#words ??= [];
      this.#words.push(...words);
    }
    if (phonemes !== undefined) {
      this.#phonemes ??= [];
      this.#phonemes.push(...phonemes);
    }
    if (visemes === undefined) return;
    this.#visemes ??= [];
    for (const next of visemes) {
      const last = this.#visemes.at(-1);
      const goesOn = last?.viseme === next.viseme && last.end === next.start;
      if (goesOn) this.#visemes[this.#visemes.length - 1] = { ...last, end: next.end };
      else this.#visemes.push(next);
    }
  }

  marks(): Marks {
    return {
      ...(this.#words === undefined ? {} : { words: this.#words }),
      ...(this.#visemes === undefined ? {} : { visemes: this.#visemes }),
      ...(this.#phonemes === undefined ? {} : { phonemes: this.#phonemes }),
    };
  }
}

function wordOf({ word, mark, startS, endS, offset, length, speaker, line }: Word): WordTiming {
  return {
    word,
    ...(mark === undefined ? {} : { mark }),
    start: inMs(startS),
    end: inMs(endS),
    offset,
    length,
    ...(speaker === undefined ? {} : { speaker }),
    ...(line === undefined ? {} : { line }),
  };
}

function mouthOf({ visemes, phonemes }: Mouth): Marks {
  return {
    visemes: visemes.map(({ name, startS, endS }) => ({
      viseme: name as VisemeTiming["viseme"],
      start: inMs(startS),
      end: inMs(endS),
    })),
    phonemes: phonemes.map(({ name, startS, endS }) => ({
      phoneme: name,
      start: inMs(startS),
      end: inMs(endS),
    })),
  };
}

function inMs(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
