import { availableParallelism } from "node:os";
import type { Script } from "../../src/core/script.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { asClip, heardIn } from "../following/heard-profile.ts";
import { furthest, mean, type Named, signed } from "../following/summary.ts";
import { harvardSentences, written } from "../harvard.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { followingScript, plainScript } from "../plain-script.ts";
import type { Row } from "../row.ts";
import { speechOf } from "../speech-of.ts";

/**
 * Clips of our two voices, three times three Harvard sentences at 0.85, 0.92, 1, 1.1 and 1.2 of their pace,
 * followed with their transcript, which the model then says.
 */
export const hearingPace: Row = {
  id: "hearing-pace",
  what: "seconds that we take for what was said in a clip of sound alone that `recogniser.use: always` hears, against the clip's, pauses left out, at 0.85 to 1.2 of our pace: worst, mean of sizes; without hearing",
  goal: "± 6 %",
  measure: ({ isQuick, note }) =>
    withRecogniser(async (hears) => {
      const texts = await segments(isQuick ? 1 : 3);
      const voice = await openEmbeddedVoice({ threads: availableParallelism() });
      const speech = async (script: Script) => asClip((await speechOf(voice, script)).samples);
      const speechS = async (script: Script) => heardIn(await speech(script)).speechS;
      const known: Named[] = [];
      const unknown: Named[] = [];
      try {
        for (const speaker of ["0", "1"])
          for (const pace of PACES)
            for (const [at, text] of texts.entries()) {
              const name = `speaker ${speaker} at ${pace}, text ${at + 1}`;
              const clip = { ...(await speech(atPace(text, speaker, pace))), digest: name };
              const theirsS = heardIn(clip).speechS;
              const { text: said } = await hears(clip);
              known.push([name, (await speechS(followingScript(text, clip, said || null))) / theirsS - 1]);
              unknown.push([name, (await speechS(followingScript(text, clip))) / theirsS - 1]);
            }
      } finally {
        await voice.close();
      }
      for (const [name, excess] of known.filter(([, own]) => Math.abs(own) > MOST))
        note(`${name}: ${signed(100 * excess, 1)} %`);
      const shown = (all: readonly Named[]) => {
        const [name, excess] = furthest(all);
        return `${signed(100 * excess, 1)} % (${name}), ${(100 * mean(all.map(([, own]) => Math.abs(own)))).toFixed(1)} %`;
      };
      const beyond = known.filter(([, own]) => Math.abs(own) > MOST).length;
      return {
        measured: `${shown(known)}, ${beyond} of ${known.length} beyond; ${shown(unknown)}`,
        isMet: beyond === 0,
      };
    }),
};

const PACES = [0.85, 0.92, 1, 1.1, 1.2];
const MOST = 0.06;

/** Three Harvard sentences each. */
async function segments(count: number): Promise<readonly string[]> {
  const all = await harvardSentences();
  return Array.from({ length: count }, (_, at) =>
    all
      .slice(3 * at, 3 * at + 3)
      .map(written)
      .join(" "),
  );
}

function atPace(text: string, speaker: string, rate: number): Script {
  const plain = plainScript(text, speaker);
  return { ...plain, preset: { ...plain.preset, rate } };
}
