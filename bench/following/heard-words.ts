import type { Pythons } from "../python.ts";
import { heardOf, startWhisper } from "../whisper.ts";
import type { FollowingPass } from "./pass.ts";

/** Word error rates. */
export interface HeardWords {
  readonly unfollowed: number;
  /** In the order of the pass. */
  readonly followed: readonly number[];
}

export async function heardWordsOf(pass: FollowingPass, python: Pythons): Promise<HeardWords> {
  const whisper = await startWhisper(python);
  const rate = async (renderings: FollowingPass["unfollowed"]) => {
    const { errors, words } = await heardOf(whisper, renderings);
    return errors / words;
  };
  try {
    const unfollowed = await rate(pass.unfollowed);
    const followed: number[] = [];
    for (const { spoken } of pass.followed) followed.push(await rate(spoken));
    return { unfollowed, followed };
  } finally {
    await whisper.close();
  }
}
