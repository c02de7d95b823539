import type { LineProgram } from "../line-program.ts";
import type { Rendering } from "../renderings.ts";
import type { Row } from "../row.ts";

export const naturalness: Row = {
  id: "naturalness",
  what: "P.808 (speechmos): speaker 0, speaker 1; cosine between them (resemblyzer)",
  goal: "≥ 4.2, ≥ 4.1; ≤ 0.75",
  async measure({ python, renderings }) {
    const meters = await python.start("quality.py");
    try {
      const first = await qualityOf(meters, await renderings.by("0"));
      const second = await qualityOf(meters, await renderings.by("1"));
      const cosine = first.voice.reduce((sum, value, index) => sum + value * (second.voice[index] ?? 0), 0);
      return {
        measured: `${first.p808.toFixed(2)}, ${second.p808.toFixed(2)}; ${cosine.toFixed(2)}`,
        isMet: first.p808 >= 4.2 && second.p808 >= 4.1 && cosine <= 0.75,
      };
    } finally {
      await meters.close();
    }
  },
};

interface Quality {
  readonly p808: number;
  /** A speaker embedding of length 1. */
  readonly voice: readonly number[];
}

/** The meters like clips of about ten seconds: four sentences make one. */
async function qualityOf(meters: LineProgram, renderings: readonly Rendering[]): Promise<Quality> {
  const clips: string[][] = [];
  for (let at = 0; at + 4 <= renderings.length; at += 4) {
    clips.push(renderings.slice(at, at + 4).map(({ path }) => path));
  }
  return (await meters.ask(clips)) as Quality;
}
