import { most } from "../following/summary.ts";
import type { Row } from "../row.ts";
import type { Sounding } from "../sound/soundings.ts";
import { THUMP_DB } from "../sound/thumps.ts";

/**
 * A frame clicks when its last sample is 0 between two that are not, or stands out from the cubic through
 * its neighbours three times as far as any within 2 ms. Sixty Harvard sentences a person, and five-sentence
 * replies that begin with "Hi."
 */
export const clicks: Row = {
  id: "clicks",
  what: "frames that end in a click: the embedded voice's people, and after hearing each of 14 people; single sentences, and replies after “Hi.”",
  goal: "none",
  async measure({ soundings }) {
    const found = await soundings();
    const sum = found.reduce((all, each) => all + each.clicks, 0);
    const frames = found.reduce((all, each) => all + each.frames, 0);
    return { measured: `${sum} in ${frames} (${people(found)})`, isMet: sum === 0 };
  },
};

/**
 * A sentence thumps when its loudest 25 ms are more than 7 dB above what nine tenths of its blocks stay
 * below.
 */
export const thumps: Row = {
  id: "thumps",
  what: "loudest 25 ms of a sentence above what nine tenths of it stay below; sentences over 7 dB: the embedded voice's people; after hearing people",
  goal: "none; ≤ 1 %",
  async measure({ soundings }) {
    const found = await soundings();
    const own = found.filter(({ isFollowed }) => !isFollowed);
    const followed = found.filter(({ isFollowed }) => isFollowed);
    const thumpsIn = (some: typeof found) => {
      const all = some.flatMap(({ overDb }) => overDb);
      return { thumps: all.filter((overDb) => overDb > THUMP_DB).length, sentences: all.length };
    };
    const worst = (some: typeof found) => {
      const [name, overDb] = most(some.map((each) => [each.name, Math.max(...each.overDb)] as const));
      return `worst ${overDb.toFixed(1)} dB (${name})`;
    };
    const [ours, theirs] = [thumpsIn(own), thumpsIn(followed)];
    const ofFollowed =
      followed.length === 0
        ? "nobody to follow"
        : `${theirs.thumps} of ${theirs.sentences}, ${worst(followed)}`;
    return {
      measured: `${ours.thumps} of ${ours.sentences}, ${worst(own)}; ${ofFollowed}`,
      isMet: ours.thumps === 0 && theirs.thumps <= 0.01 * theirs.sentences,
    };
  },
};

/**
 * A voice buzzes when its energy depends on the place in the hop, by tenths, each hop counted by its shares.
 */
export const buzz: Row = {
  id: "buzz",
  what: "energy from 10.1 to 11.9 kHz by its place in the hop of 12.5 ms, largest ÷ smallest tenth: the embedded voice's people; worst, after hearing people too",
  goal: "≤ 2",
  async measure({ soundings }) {
    const found = await soundings();
    const [name, worst] = most(found.map((each) => [each.name, each.buzz] as const));
    const own = found.filter(({ isFollowed }) => !isFollowed);
    return {
      measured: `${own.map((each) => each.buzz.toFixed(2)).join(", ")}; ${worst.toFixed(2)} (${name}, ${people(found)})`,
      isMet: worst <= 2,
    };
  },
};

function people(soundings: readonly Sounding[]): string {
  const { length } = soundings.filter(({ isFollowed }) => isFollowed);
  return length > 0 ? `${length} people` : "nobody to follow";
}
