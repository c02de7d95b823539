import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { SAMPLE_RATE_HZ } from "../src/audio/format.ts";
import { toPcm16 } from "../src/audio/pcm.ts";
import { encodeWav } from "../src/audio/wav-write.ts";
import { openEmbeddedVoice } from "../src/server/embedded-voice.ts";
import { harvardSentences, written } from "./harvard.ts";
import { plainScript } from "./plain-script.ts";
import { speechOf } from "./speech-of.ts";

/** One sentence as one speaker says it at temperature 0. */
export interface Rendering {
  readonly sentence: string;
  /** Path of the WAV: 24 kHz, mono, 16-bit. */
  readonly path: string;
}

/** The Harvard sentences, spoken once for all rows that listen. */
export class Renderings {
  readonly #sentences: number;
  readonly #spoken = new Map<string, Promise<readonly Rendering[]>>();
  #folder: Promise<string> | null = null;

  /** @param sentences how many of them, from the first. */
  constructor(sentences: number) {
    this.#sentences = sentences;
  }

  by(speaker: string): Promise<readonly Rendering[]> {
    const known = this.#spoken.get(speaker) ?? this.#speak(speaker);
    this.#spoken.set(speaker, known);
    return known;
  }

  async remove(): Promise<void> {
    if (this.#folder !== null) await rm(await this.#folder, { recursive: true, force: true });
  }

  async #speak(speaker: string): Promise<readonly Rendering[]> {
    this.#folder ??= mkdtemp(join(tmpdir(), "antiphon-bench-"));
    const folder = await this.#folder;
    const all = await harvardSentences();
    const voice = await openEmbeddedVoice({ threads: availableParallelism() });
    try {
      return await Promise.all(
        all.slice(0, this.#sentences).map(async (sentence, index) => {
          const path = join(folder, `${speaker}-${index}.wav`);
          const { samples } = await speechOf(voice, plainScript(written(sentence), speaker));
          await writeFile(path, encodeWav(toPcm16(samples), SAMPLE_RATE_HZ));
          return { sentence, path };
        }),
      );
    } finally {
      await voice.close();
    }
  }
}
