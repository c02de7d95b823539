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
  readonly #marks: { words?: WordTiming[]; visemes?: VisemeTiming[]; phonemes?: PhonemeTiming[] } = {};

  add({ words, visemes, phonemes }: Marks): void {
    const all = this.#marks;
    if (words !== undefined) {
      all.words ??= [];
      all.words.push(...words);
    }
    if (phonemes !== undefined) {
      all.phonemes ??= [];
      all.phonemes.push(...phonemes);
    }
    if (visemes === undefined) return;
    all.visemes ??= [];
    for (const next of visemes) {
      const last = all.visemes.at(-1);
      const goesOn = last?.viseme === next.viseme && last.end === next.start;
      if (goesOn) all.visemes[all.visemes.length - 1] = { ...last, end: next.end };
      else all.visemes.push(next);
    }
  }

  marks(): Marks {
    return { ...this.#marks };
  }
}

function wordOf({ word, mark, offset, length, speaker, line, ...times }: Word): WordTiming {
  return {
    word,
    ...(mark === undefined ? {} : { mark }),
    ...{ ...timesOf(times), offset, length },
    ...(speaker === undefined ? {} : { speaker }),
    ...(line === undefined ? {} : { line }),
  };
}

function mouthOf({ visemes, phonemes }: Mouth): Marks {
  return {
    visemes: visemes.map((each) => ({ viseme: each.name as VisemeTiming["viseme"], ...timesOf(each) })),
    phonemes: phonemes.map((each) => ({ phoneme: each.name, ...timesOf(each) })),
  };
}

function timesOf({ startS, endS }: Pick<Word, "startS" | "endS">): { start: number; end: number } {
  return { start: inMs(startS), end: inMs(endS) };
}

function inMs(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
