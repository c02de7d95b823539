import { knownClipPairs } from "../following/known-clip-pairs.ts";
import { listeningTimes } from "../following/listening-times.ts";
import { tenSecondsOf } from "../following/ten-seconds.ts";
import { median } from "../load/percentile.ts";
import type { Row } from "../row.ts";

/**
 * From the call to the first frame with 13 unknown clips of 10 s, less the same words without a history.
 * Then 200 pairs of requests to a server, with and without a known clip (427 kB of base64).
 */
export const listening: Row = {
  id: "listening",
  what: "what a turn of 10 s adds to first audio: heard for the first time, in one thread; looked up; known to a server that is sent it again",
  goal: "≤ 0.8 s; ≤ 2 ms; p50 ≤ 5 ms",
  async measure({ isQuick, followings }) {
    const references = await followings.references();
    const clips = await Promise.all(references.slice(0, isQuick ? 6 : undefined).map(tenSecondsOf));
    const { newClips, known } = await listeningTimes(clips);
    const pairs = await knownClipPairs(clips[0]!, isQuick ? 40 : 200);
    const newMs = median(newClips);
    const addedMs = median(pairs.map(({ after, without }) => after - without));
    const of = (which: "after" | "without") => median(pairs.map((pair) => pair[which])).toFixed(1);
    return {
      measured:
        `${(newMs / 1_000).toFixed(2)} s (median of ${newClips.length} clips, worst ${(Math.max(...newClips) / 1_000).toFixed(2)} s); ` +
        `${known.toFixed(2)} ms; ${addedMs.toFixed(1)} ms (${of("after")} against ${of("without")} ms, ${pairs.length} pairs)`,
      isMet: newMs <= 800 && known <= 2 && addedMs <= 5,
    };
  },
};
