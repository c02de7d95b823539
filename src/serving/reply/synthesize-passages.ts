import { createHash } from "node:crypto";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { WordTiming } from "../../contract/spoken.ts";
import { speakEncoded } from "../../core/encoded-speech.ts";
import { pausesS, spokenText } from "../../core/marked-text.ts";
import type { Script } from "../../core/script.ts";
import { NothingToSpeakError, type SpeechModel } from "../../core/speech-model.ts";
import { hasSpeakable } from "../../text/characters.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import { parsePlainText } from "../prepare/read-markup.ts";
import { toReplyChunk } from "./reply-chunk.ts";

/** Event while a long text is spoken. */
export type PassageEvent =
  | { readonly kind: "begin"; readonly passage: Passage }
  | SpokenSound
  | {
      /** End of a passage, after its pause. */
      readonly kind: "end";
      readonly passage: Passage;
      /** Words with their times in seconds from the passage's beginning. */
      readonly words: readonly WordTiming[];
    };

interface SpokenSound {
  readonly kind: "sound";
  /** 16-bit, 24 kHz, mono, little-endian. */
  readonly pcm: Uint8Array;
}

export interface PassageSpeech {
  readonly model: SpeechModel;
  /** Returns the script of a passage. `index` counts from 0. */
  script(passage: Passage, index: number): Promise<Script>;
  readonly signal: AbortSignal;
}

/** Added to the silence at the end of an utterance. */
const PAUSE_S = 0.25;
const PAUSE_BEHIND_HEADING_S = 0.6;

/** Returns the samples of silence after a passage. */
export function pauseAfter({ chapter, line }: Passage): number {
  const usualS = chapter === null ? PAUSE_S : PAUSE_BEHIND_HEADING_S;
  return Math.round((line?.pauseS ?? usualS) * SAMPLE_RATE_HZ);
}

/** Returns the samples of silence that stand for a passage without words; `null` for one with words. */
export function silentSamples({ text }: Pick<Passage, "text">): number | null {
  const piece = parsePlainText(text);
  return hasSpeakable(spokenText(piece)) ? null : Math.round(pausesS(piece) * SAMPLE_RATE_HZ);
}

/**
 * Speaks passages one after the other. Each is an utterance of its own, so that its sound does not depend on earlier
 * ones, and memory is bounded. Skips empty passages.
 *
 * @throws Error if a passage was not spoken to its end
 */
export async function* synthesizePassages(
  passages: AsyncIterable<Passage>,
  speech: PassageSpeech,
): AsyncGenerator<PassageEvent, void, void> {
  let index = 0;
  for await (const passage of passages) {
    speech.signal.throwIfAborted();
    const number = index++;
    const silent = silentSamples(passage);
    if (silent === 0) continue;
    yield { kind: "begin", passage };
    const words = silent === null ? yield* speakOne(passage, number, speech) : [];
    yield { kind: "sound", pcm: new Uint8Array(2 * (silent ?? pauseAfter(passage))) };
    yield { kind: "end", passage, words };
  }
}

/** Returns 64 bits for a passage, so that the same text sounds the same. `number` counts from 0. */
export function passageSeed({ text }: Pick<Passage, "text">, number: number): bigint {
  return createHash("sha256").update(`${number} ${text}`).digest().readBigUInt64LE();
}

async function* speakOne(
  passage: Passage,
  number: number,
  { model, script, signal }: PassageSpeech,
): AsyncGenerator<SpokenSound, readonly WordTiming[], void> {
  const words: WordTiming[] = [];
  const sound = speakEncoded(model, await script(passage, number), "pcm", signal);
  let isOver = false;
  try {
    for (;;) {
      const step = await sound.next();
      isOver = step.done === true;
      if (step.done) {
        if (step.value.stop === "finished") return words;
        throw new Error(`The model did not speak this to its end: ${passage.text.slice(0, 60)}…`);
      }
      const { bytes: pcm, marks } = toReplyChunk(step.value);
      words.push(...(marks.words ?? []));
      yield { kind: "sound", pcm };
    }
  } catch (error) {
    // Letters and digits that the voice cannot speak.
    if (!(error instanceof NothingToSpeakError)) throw error;
    return words;
  } finally {
    if (!isOver) await sound.return({ stop: "length", spoken: "" });
  }
}

/** Estimates the seconds that the embedded voice needs for English prose. */
export function estimateSpeechS(chars: number): number {
  return chars * SECONDS_A_CHAR;
}

const SECONDS_A_CHAR = 0.062;
