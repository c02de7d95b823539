import type { Pythons } from "../python.ts";
import type { Reference } from "../references.ts";
import { heardOf, startWhisper } from "../whisper.ts";
import type { FollowingPass } from "./pass.ts";

/** Word error rates. */
export interface HeardWords {
  readonly unfollowed: number;
  /** In the order of the pass. */
  readonly followed: readonly number[];
}

export function isCleanEnglish({ kind, language }: Reference): boolean {
  return kind === "clean" && language === "en";
}

/**
 * Has everything heard that is said without following, and after clean English clips; of the rest a third, because
 * hearing takes the longest of all.
 */
export async function heardWordsOf(pass: FollowingPass, python: Pythons): Promise<HeardWords> {
  const whisper = await startWhisper(python);
  const rate = async (renderings: FollowingPass["unfollowed"]) => {
    const { errors, words } = await heardOf(whisper, renderings);
    return errors / words;
  };
  try {
    const unfollowed = await rate(pass.unfollowed);
    const followed: number[] = [];
    for (const { reference, spoken } of pass.followed) {
      const isAll = isCleanEnglish(reference);
      followed.push(await rate(spoken.filter((_, index) => isAll || index % ONE_IN === 0)));
    }
    return { unfollowed, followed };
  } finally {
    await whisper.close();
  }
}

const ONE_IN = 3;
