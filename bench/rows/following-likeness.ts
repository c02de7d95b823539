import { least, mean, type Named } from "../following/summary.ts";
import type { Row } from "../row.ts";

/**
 * GE2E cosines between the speech of `following-pitch` and the person's other clip, four sentences a clip. 0
 * is speaker `0` without following, 1 the person's own clip.
 */
export const followingVoice: Row = {
  id: "following-voice",
  what: "likeness to another clip of the same person (GE2E, resemblyzer): the share of the way from the unfollowed voice to the person's own clip, mean and least; mean cosines without, with, and of the person",
  goal: "mean ≥ 0.35, least ≥ 0",
  async measure({ followings }) {
    const references = await followings.references();
    const { followed } = await followings.likenesses();
    const shares = followed.map(({ share }, index): Named => [references[index]!.name, share]);
    const average = mean(shares.map(([, share]) => share));
    const [name, worst] = least(shares);
    const cosines = (["before", "after", "sameHuman"] as const).map((which) =>
      mean(followed.map((likeness) => likeness[which])).toFixed(2),
    );
    return {
      measured: `${average.toFixed(2)}, ${worst.toFixed(2)} (${name}); ${cosines.join(", ")}`,
      isMet: average >= 0.35 && worst >= 0,
    };
  },
};

/** The speech of `following-pitch`, judged as in `naturalness`, and speaker `0` in the same sentences. */
export const followingNaturalness: Row = {
  id: "following-naturalness",
  what: "P.808 of speech that follows a person, mean and least; of the same sentences without following",
  goal: "mean ≥ 4.0",
  async measure({ followings }) {
    const references = await followings.references();
    const { followed, unfollowedP808 } = await followings.likenesses();
    const scores = followed.map(({ p808 }, index): Named => [references[index]!.name, p808]);
    const average = mean(scores.map(([, score]) => score));
    const [name, worst] = least(scores);
    return {
      measured: `${average.toFixed(2)}, ${worst.toFixed(2)} (${name}); ${unfollowedP808.toFixed(2)}`,
      isMet: average >= 4,
    };
  },
};
