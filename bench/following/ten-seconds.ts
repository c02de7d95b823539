import { joinSamples } from "../../src/audio/pcm.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { readClip } from "../read-clip.ts";
import type { Reference } from "../references.ts";

/** The first 10 s of a person's two clips, one behind the other. */
export async function tenSecondsOf({ name, clip, heldOut }: Reference): Promise<Clip> {
  const [first, second] = await Promise.all([readClip(clip), readClip(heldOut)]);
  const { sampleRateHz } = first;
  const samples = joinSamples([first.samples, second.samples]).slice(0, 10 * sampleRateHz);
  return {
    samples,
    sampleRateHz,
    durationS: samples.length / sampleRateHz,
    digest: `ten seconds of ${name}`,
  };
}
