import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../src/audio/encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../src/audio/format.ts";
import { toPcm16 } from "../src/audio/pcm.ts";
import type { Script } from "../src/core/script.ts";
import type { SpeechModel } from "../src/core/speech-model.ts";
import { openEmbeddedVoice } from "../src/server/voices/embedded-voice.ts";
import { harvardSentences, written } from "./harvard.ts";
import { plainScript } from "./plain-script.ts";
import { speechOf } from "./speech-of.ts";

/** One sentence as one speaker says it at temperature 0. */
export interface Rendering {
  readonly sentence: string;
  /** Path of the WAV: 24 kHz, mono, 16-bit. */
  readonly path: string;
}

/** Another way to say them than the plain one. */
export interface HowSaid {
  /** What files are called by. */
  readonly name: string;
  readonly rate?: number;
  readonly manner?: Script["manner"];
}

/** Who says them. */
export interface Sayer {
  open(): Promise<SpeechModel>;
  script(text: string, speaker: string): Script;
}

/** The Harvard sentences, spoken once for all rows that listen. */
export class Renderings {
  readonly #sentences: number;
  readonly #sayer: Sayer;
  readonly #spoken = new Map<string, Promise<readonly Rendering[]>>();
  #folder: Promise<string> | null = null;

  /** @param sentences how many of them, from the first. */
  constructor(sentences: number, sayer = EMBEDDED) {
    this.#sentences = sentences;
    this.#sayer = sayer;
  }

  /** @param sentences how many of them are said so, at most */
  by(speaker: string, how: HowSaid = PLAIN, sentences = this.#sentences): Promise<readonly Rendering[]> {
    const name = `${speaker}${how.name}`;
    const known = this.#spoken.get(name) ?? this.#speak(speaker, how, Math.min(sentences, this.#sentences));
    this.#spoken.set(name, known);
    return known;
  }

  async remove(): Promise<void> {
    if (this.#folder !== null) await rm(await this.#folder, { recursive: true, force: true });
  }

  async #speak(
    speaker: string,
    { name, rate, manner }: HowSaid,
    sentences: number,
  ): Promise<readonly Rendering[]> {
    this.#folder ??= mkdtemp(join(tmpdir(), "antiphon-bench-"));
    const folder = await this.#folder;
    const all = await harvardSentences();
    const voice = await this.#sayer.open();
    try {
      return await Promise.all(
        all.slice(0, sentences).map(async (sentence, index) => {
          const path = join(folder, `${speaker}${name}-${index}.wav`);
          const plain = this.#sayer.script(written(sentence), speaker);
          const preset = rate === undefined ? plain.preset : { ...plain.preset, rate };
          const script = { ...plain, preset, ...(manner === undefined ? {} : { manner }) };
          const { samples } = await speechOf(voice, script);
          await writeFile(path, encodeWav(toPcm16(samples), SAMPLE_RATE_HZ));
          return { sentence, path };
        }),
      );
    } finally {
      await voice.close();
    }
  }
}

const PLAIN: HowSaid = { name: "" };
const EMBEDDED: Sayer = {
  open: () => openEmbeddedVoice({ threads: availableParallelism() }),
  script: plainScript,
};
