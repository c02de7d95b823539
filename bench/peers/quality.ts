import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { fours } from "../fours.ts";
import type { LineProgram } from "../line-program.ts";
import { qualityOf } from "../quality.ts";
import { type WordErrors, wordErrors } from "../word-errors.ts";
import type { Spoken } from "./speaking.ts";

export interface QualityFigures extends WordErrors {
  readonly p808: number;
}

/** Judges speech in clips of four sentences, which suits both the recogniser and the meter. */
export async function judged(
  spoken: readonly Spoken[],
  rateHz: number,
  folder: string,
  { whisper, meters }: { readonly whisper: LineProgram; readonly meters: LineProgram },
): Promise<QualityFigures> {
  const pause = new Int16Array(Math.round(0.4 * rateHz));
  const paths: string[] = [];
  let [errors, words] = [0, 0];
  for (const [at, group] of fours(spoken).entries()) {
    const path = join(folder, `${at}.wav`);
    await writeFile(
      path,
      encodeWav(
        group.flatMap(({ pcm }) => [pcm, pause]),
        rateHz,
      ),
    );
    const found = wordErrors(
      group.map(({ sentence }) => sentence).join(" "),
      (await whisper.ask(path)) as string,
    );
    errors += found.errors;
    words += found.words;
    paths.push(path);
  }
  const { p808 } = await qualityOf(
    meters,
    paths.map((path) => [path]),
  );
  return { errors, words, p808 };
}
