import { availableParallelism } from "node:os";
import type { Script } from "../../src/core/script.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { asClip, heardIn } from "../following/heard-profile.ts";
import { furthest, type Named, signed } from "../following/summary.ts";
import { followingScript, plainScript } from "../plain-script.ts";
import { readClip } from "../read-clip.ts";
import type { Row } from "../row.ts";
import { speechOf } from "../speech-of.ts";

/**
 * Four people who speak English: each transcript, after the clip with and without its text. Pauses are left
 * out. People slower than 0.72 of our pace are listed separately.
 */
export const followingRate: Row = {
  id: "following-rate",
  what: "seconds that we take for what a person said in English against theirs, pauses left out, worst: the clip's words known; not known; people slower than 0.72 of our pace, who are followed up to there",
  goal: "± 8 %; ± 15 %",
  async measure({ followings }) {
    const people: Pace[] = [];
    const references = await followings.references();
    const voice = await openEmbeddedVoice({ threads: availableParallelism() });
    const speechS = async (script: Script) => {
      const { samples } = await speechOf(voice, script);
      return heardIn(asClip(samples)).speechS;
    };
    try {
      for (const { name, transcript, clip: path } of references) {
        if (transcript === null) continue;
        const clip = await readClip(path);
        const theirsS = heardIn(clip).speechS;
        people.push({
          unfollowed: [name, (await speechS(plainScript(transcript, "0"))) / theirsS - 1],
          known: [name, (await speechS(followingScript(transcript, clip, transcript))) / theirsS - 1],
          unknown: [name, (await speechS(followingScript(transcript, clip))) / theirsS - 1],
        });
      }
    } finally {
      await voice.close();
    }
    const usual = people.filter(({ unfollowed }) => unfollowed[1] >= SLOWEST - 1);
    const slow = people.filter((person) => !usual.includes(person));
    const known = furthest(usual.map((person) => person.known));
    const unknown = furthest(usual.map((person) => person.unknown));
    const shown = ([name, excess]: Named) => `${signed(100 * excess, 1)} % (${name})`;
    return {
      measured:
        `${shown(known)}; ${shown(unknown)}; ` +
        `${slow.length === 0 ? "nobody" : slow.map((person) => shown(person.known)).join(", ")}`,
      isMet: Math.abs(known[1]) <= 0.08 && Math.abs(unknown[1]) <= 0.15,
    };
  },
};

/** How much longer or shorter we spoke than a person, as a share. */
interface Pace {
  readonly unfollowed: Named;
  readonly known: Named;
  readonly unknown: Named;
}

/** Slower than this share of our pace nobody is followed, lest words be lost. */
const SLOWEST = 0.72;
