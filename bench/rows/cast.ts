import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { kokoroRenderings } from "../installed-kokoro.ts";
import { median } from "../load/percentile.ts";
import { MIXED_LENGTHS } from "../mixed-lengths.ts";
import { plainScript } from "../plain-script.ts";
import { cosine, type Quality, sentencesQuality } from "../quality.ts";
import type { Row } from "../row.ts";
import { speechOf } from "../speech-of.ts";
import { heardOf, startWhisper } from "../whisper.ts";

/** Whose sound each speaker of English was taught by: voices of Kokoro-82M. */
const TEACHERS: Readonly<Record<string, string>> = {
  "5": "bf_emma",
  "6": "am_michael",
  "7": "am_onyx",
  "8": "bf_lily",
  "9": "am_puck",
  "10": "bm_fable",
  "11": "af_river",
  "12": "bm_daniel",
};

/** As many of the Harvard sentences, of both, are compared by P.808 and GE2E: ten clips of four. */
const COMPARED = 40;
const MIN_TO_TEACHER = 0.8;
const MAX_TO_OTHER = 0.8;
const MAX_WRONG = 0.05;
/** The teacher's P.808 less the person's. */
const MAX_BELOW_TEACHER = 0.1;
/** Processor time for a second of the person's speech over that of the first voice. */
const MAX_COST = 1.1;
const COST_PAIRS = 5;

/**
 * Sixty Harvard sentences a person, and the first forty by each teacher, spoken by Kokoro-82M. Processor
 * time is the median of five turns, each between two of the first voice's.
 */
export const cast: Row = {
  id: "cast",
  what: "those of the embedded voice's people who were taught by Kokoro's: P.808 (the teacher's); words wrong, 60 Harvard sentences, Whisper base; cosine to the teacher, and to whoever of the people is most like them; processor time for a second of speech ÷ the first voice's",
  goal: `P.808 ≥ the teacher's − ${MAX_BELOW_TEACHER}; words ≤ ${MAX_WRONG}; to the teacher ≥ ${MIN_TO_TEACHER}; to another ≤ ${MAX_TO_OTHER}; time ≤ ${MAX_COST}`,
  isOnlyByName: true,
  async measure({ isQuick, python, renderings, note }) {
    const compared = isQuick ? 8 : COMPARED;
    const teachers = await kokoroRenderings(compared, note, Object.values(TEACHERS));
    const closing: (() => Promise<unknown>)[] = [() => teachers.remove()];
    try {
      const meters = await python.start("quality.py");
      closing.push(() => meters.close());
      const whisper = await startWhisper(python);
      closing.push(() => whisper.close());
      const people = new Map<string, Quality>();
      for (const { id } of EMBEDDED_VOICES.filter(({ language }) => language === "en-US"))
        people.set(id, await sentencesQuality(meters, (await renderings.by(id)).slice(0, compared)));
      const costs = await costsOf(Object.keys(TEACHERS));
      const shown: string[] = [];
      let isMet = true;
      for (const [id, teacherId] of Object.entries(TEACHERS)) {
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
      await Promise.all(closing.map((close) => close()));
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
      for (let pair = 0; pair < COST_PAIRS; pair++) {
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
