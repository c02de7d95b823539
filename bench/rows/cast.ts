import { EMBEDDED_CAST, LEARNT_FROM } from "../../src/catalogue/embedded-cast.ts";
import { median } from "../../src/cli/bench/percentile.ts";
import { openEmbeddedVoice } from "../../src/server/embedded-voice.ts";
import { kokoroRenderings } from "../installed-kokoro.ts";
import { MIXED_LENGTHS } from "../mixed-lengths.ts";
import { plainScript } from "../plain-script.ts";
import { cosine, type Quality, sentencesQuality } from "../quality.ts";
import type { Row } from "../row.ts";
import { speechOf } from "../speech-of.ts";
import { heardOf, startWhisper } from "../whisper.ts";

/** As many Harvard sentences as a teacher says: five clips of four. */
const TEACHER_SENTENCES = 20;
const MIN_TO_TEACHER = 0.8;
const MAX_TO_OTHER = 0.8;
const MAX_WRONG = 0.05;
/** A teacher's P.808 less their own, and their processor time for a second against that of the first voice. */
const MAX_BELOW_TEACHER = 0.1;
const MAX_COST = 1.1;

export const cast: Row = {
  id: "cast",
  what: "those of the embedded voice's people who were taught by Kokoro's: P.808 (the teacher's); words wrong, 60 Harvard sentences, Whisper base; cosine to the teacher, and to whoever of the people is most like them; processor time for a second of speech ÷ the first voice's",
  goal: `P.808 ≥ the teacher's − ${MAX_BELOW_TEACHER}; ≤ ${MAX_WRONG}; ≥ ${MIN_TO_TEACHER}; ≤ ${MAX_TO_OTHER}; ≤ ${MAX_COST}`,
  isOnlyByName: true,
  async measure({ python, renderings, note }) {
    const teachers = await kokoroRenderings(TEACHER_SENTENCES, note, Object.values(LEARNT_FROM));
    const meters = await python.start("quality.py");
    const whisper = await startWhisper(python);
    try {
      const people = new Map<string, Quality>();
      for (const { id } of EMBEDDED_CAST)
        people.set(id, await sentencesQuality(meters, await renderings.by(id)));
      const costs = await costsOf(Object.keys(LEARNT_FROM));
      const shown: string[] = [];
      let isMet = true;
      for (const [id, teacherId] of Object.entries(LEARNT_FROM)) {
        const person = people.get(id)!;
        const teacher = await sentencesQuality(meters, await teachers.by(teacherId));
        const { errors, words } = await heardOf(whisper, await renderings.by(id));
        const likeness = cosine(person, teacher);
        const others = [...people].filter(([other]) => other !== id);
        const [nearest, most] = others
          .map(([other, quality]) => [other, cosine(person, quality)] as const)
          .reduce((a, b) => (b[1] > a[1] ? b : a));
        const cost = costs.get(id)!;
        shown.push(
          `${id} (${teacherId}): ${person.p808.toFixed(2)} (${teacher.p808.toFixed(2)}); ${(errors / words).toFixed(3)}; ` +
            `${likeness.toFixed(2)}, ${most.toFixed(2)} to ${nearest}; ${cost.toFixed(2)}`,
        );
        note(shown.at(-1)!);
        isMet &&=
          person.p808 >= teacher.p808 - MAX_BELOW_TEACHER &&
          errors <= MAX_WRONG * words &&
          likeness >= MIN_TO_TEACHER &&
          most <= MAX_TO_OTHER &&
          cost <= MAX_COST;
      }
      return { measured: shown.join(" · "), isMet };
    } finally {
      await whisper.close();
      await meters.close();
      await teachers.remove();
    }
  },
};

/** Processor time for a second of each one's speech ÷ that of the first voice, who speaks before and after each. */
async function costsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const voice = await openEmbeddedVoice({ threads: 1 });
  const cpuOf = async (who: string) => {
    const begun = process.cpuUsage();
    let samples = 0;
    for (const text of MIXED_LENGTHS)
      samples += (await speechOf(voice, plainScript(text, who))).samples.length;
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / samples;
  };
  try {
    const costs = new Map<string, number>();
    for (const id of ids) {
      for (const who of ["0", id]) await cpuOf(who);
      const ratios: number[] = [];
      for (let pair = 0; pair < PAIRS; pair++) {
        const [before, own, after] = [await cpuOf("0"), await cpuOf(id), await cpuOf("0")];
        ratios.push((2 * own) / (before + after));
      }
      costs.set(id, median(ratios));
    }
    return costs;
  } finally {
    await voice.close();
  }
}

const PAIRS = 5;
