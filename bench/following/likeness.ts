import type { LineProgram } from "../line-program.ts";
import type { Pythons } from "../python.ts";
import { cosine, type Quality, qualityOf, sentencesQuality } from "../quality.ts";
import type { FollowedSpeech, FollowingPass } from "./pass.ts";

/** How natural the voice stayed, and how much it sounds like a person to a recogniser of speakers. */
export interface Likeness {
  /** DNSMOS P.808. */
  readonly p808: number;
  /** Cosines with the person's other clip: of the voice without following, with it, and of the clip that was followed. */
  readonly before: number;
  readonly after: number;
  readonly sameHuman: number;
  /** How much of the way from the first to the last was gone. */
  readonly share: number;
}

export interface Likenesses {
  readonly unfollowedP808: number;
  /** In the order of the pass. */
  readonly followed: readonly Likeness[];
}

export async function likenessesOf(pass: FollowingPass, python: Pythons): Promise<Likenesses> {
  const meters = await python.start("quality.py");
  try {
    const unfollowed = await sentencesQuality(meters, pass.unfollowed);
    const followed: Likeness[] = [];
    for (const speech of pass.followed) followed.push(await likenessOf(meters, speech, unfollowed));
    return { unfollowedP808: unfollowed.p808, followed };
  } finally {
    await meters.close();
  }
}

async function likenessOf(
  meters: LineProgram,
  { reference, spoken }: FollowedSpeech,
  unfollowed: Quality,
): Promise<Likeness> {
  const ours = await sentencesQuality(meters, spoken);
  const clip = await qualityOf(meters, [[reference.clip]]);
  const heldOut = await qualityOf(meters, [[reference.heldOut]]);
  const before = cosine(unfollowed, heldOut);
  const after = cosine(ours, heldOut);
  const sameHuman = cosine(clip, heldOut);
  return { p808: ours.p808, before, after, sameHuman, share: (after - before) / (sameHuman - before) };
}
