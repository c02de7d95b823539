import { joinSamples } from "../../src/audio/pcm.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { readClip } from "../read-clip.ts";
import type { Renderings } from "../renderings.ts";
import { clipOf } from "./sounds.ts";

/**
 * Clips of one length, no two alike: what a speaker says of the Harvard sentences, one behind the other, cut wherever it
 * is.
 */
export async function talkOf(
  renderings: Renderings,
  speaker: string,
  lengthS: number,
  count: number,
): Promise<readonly Clip[]> {
  const clips = await Promise.all((await renderings.by(speaker)).map(({ path }) => readClip(path)));
  const { sampleRateHz } = clips[0]!;
  const once = joinSamples(clips.map(({ samples }) => samples));
  const length = Math.round(lengthS * sampleRateHz);
  const talk = joinSamples(Array.from({ length: 1 + Math.ceil(length / once.length) }, () => once));
  const step = Math.floor(once.length / count);
  return Array.from({ length: count }, (_, at) =>
    clipOf(talk.slice(at * step, at * step + length), `${speaker} ${lengthS} ${at}`, sampleRateHz),
  );
}
