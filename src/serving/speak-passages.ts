import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import type { SpokenWord } from "../contract/spoken.ts";
import { fileOf } from "../model/encoded-speech.ts";
import type { Script } from "../model/script.ts";
import type { SpeechModel } from "../model/speech-model.ts";
import type { Passage } from "../text/passages.ts";
import { hasSpeakable } from "../text/speakable.ts";
import { spokenPiece } from "./spoken-piece.ts";

/** What comes of a long text while it is spoken. */
export type SpokenPart =
  | { readonly kind: "begin"; readonly passage: Passage }
  | {
      readonly kind: "sound";
      /** 16-bit, 24 kHz, mono, little-endian. */
      readonly pcm: Uint8Array;
    }
  | {
      /** A passage is over, with the pause behind it. */
      readonly kind: "end";
      readonly passage: Passage;
      /** Its words, with their times in seconds from its beginning. */
      readonly words: readonly SpokenWord[];
      /** Samples of it, the pause included. */
      readonly samples: number;
    };

export interface PassageSpeech {
  readonly model: SpeechModel;
  /** What is spoken for the passage of that number, from 0. */
  script(passage: Passage, index: number): Promise<Script>;
  readonly signal: AbortSignal;
}

/** Beyond the silence that an utterance ends with. */
const PAUSE_S = 0.25;
const PAUSE_BEHIND_HEADING_S = 0.6;

/**
 * Speaks passages one after the other. Each is an utterance of its own, so that its sound depends on nothing before it, and
 * memory on no more than one. What has no words is a pause.
 */
export async function* speakPassages(
  passages: AsyncIterable<Passage>,
  { model, script, signal }: PassageSpeech,
): AsyncGenerator<SpokenPart, void, void> {
  let index = 0;
  for await (const passage of passages) {
    signal.throwIfAborted();
    yield { kind: "begin", passage };
    const words: SpokenWord[] = [];
    let bytes = 0;
    const number = index++;
    if (hasSpeakable(passage.text)) {
      for await (const piece of fileOf(model, await script(passage, number), "pcm", signal)) {
        const { bytes: pcm, marks } = spokenPiece(piece);
        words.push(...(marks.words ?? []));
        bytes += pcm.length;
        yield { kind: "sound", pcm };
      }
    }
    const pauseS = passage.chapter === null ? PAUSE_S : PAUSE_BEHIND_HEADING_S;
    const pause = new Uint8Array(2 * Math.round(pauseS * SAMPLE_RATE_HZ));
    yield { kind: "sound", pcm: pause };
    yield { kind: "end", passage, words, samples: (bytes + pause.length) / 2 };
  }
}

/** Seconds that a text takes to say, about: what the embedded voice needs for English prose. */
export function estimatedS(chars: number): number {
  return chars * SECONDS_A_CHAR;
}

const SECONDS_A_CHAR = 0.062;
