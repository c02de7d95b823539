import { availableParallelism } from "node:os";
import { openEmbeddedVoice } from "../../src/cli/embedded-voice.ts";
import { asClip, heardIn } from "../following/heard-profile.ts";
import { furthest, type Named, signed } from "../following/summary.ts";
import { followingScript } from "../plain-script.ts";
import { readClip } from "../read-clip.ts";
import type { Row } from "../row.ts";
import { speechOf } from "../speech-of.ts";

export const followingRate: Row = {
  id: "following-rate",
  what: "seconds of speech that we take for what a person said against theirs, pauses left out, worst of 4 people: the clip's words known; not known",
  goal: "± 8 %; ± 15 %",
  async measure({ followings }) {
    const known: Named[] = [];
    const unknown: Named[] = [];
    const references = await followings.references();
    const voice = await openEmbeddedVoice({ threads: availableParallelism(), readings: "standard" });
    try {
      for (const { name, transcript, clip: path } of references) {
        if (transcript === null) continue;
        const clip = await readClip(path);
        const theirsS = heardIn(clip).speechS;
        const excess = async (said: string | null): Promise<Named> => {
          const { samples } = await speechOf(voice, followingScript(transcript, clip, said));
          return [name, heardIn(asClip(samples)).speechS / theirsS - 1];
        };
        known.push(await excess(transcript));
        unknown.push(await excess(null));
      }
    } finally {
      await voice.close();
    }
    const [withWords, without] = [furthest(known), furthest(unknown)];
    const shown = ([name, excess]: Named) => `${signed(100 * excess, 1)} % (${name})`;
    return {
      measured: `${shown(withWords)}; ${shown(without)}`,
      isMet: Math.abs(withWords[1]) <= 0.08 && Math.abs(without[1]) <= 0.15,
    };
  },
};
