import type { DecodedStream } from "../frame-decoder.ts";
import type { Rng } from "../rng.ts";
import { CodeHistory, sampleCode } from "../sampler.ts";
import type { SequenceState } from "../sequence.ts";
import type { CsmConfig } from "./config.ts";
import type { GenerationSettings } from "./settings.ts";

/** The code that all of an ending frame are: it has no penalty. */
const END = 0;

/** How CSM speaks one utterance. */
export function csmSequenceState(
  prompt: Float32Array,
  { first, others, penalty, maxFrames }: GenerationSettings,
  rng: Rng,
  sound: DecodedStream,
  { codec }: CsmConfig,
): SequenceState {
  const history = new CodeHistory();
  return {
    ...{ prompt, depthSampler: others, rng, sound },
    sampleFirst(logits) {
      // The codes that the codec does not have are left out.
      const known = logits.subarray(0, codec.codes);
      return sampleCode(history.penalised(known, penalty, END), first, rng);
    },
    take(frame) {
      history.note(frame[0]!);
      // The last codebook is not asked. A frame that is not silent in it ends the speech too, and is heard.
      const isLast = frame.slice(0, -1).every((code) => code === END);
      const isHeard = !(isLast && frame.at(-1) === END);
      if (isLast) return { isHeard, stop: "finished" };
      return { isHeard, stop: history.count >= maxFrames ? "length" : null };
    },
  };
}
