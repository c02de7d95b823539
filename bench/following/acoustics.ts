import { loudnessOf } from "../../src/audio/loudness.ts";
import { joinSamples } from "../../src/audio/pcm.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { percentile, standardDeviation } from "../../src/engines/following/analysis/statistics.ts";
import { fours } from "../fours.ts";
import { averageSpectrum, spectralDistanceDb } from "./average-spectrum.ts";
import { asClip, heardIn } from "./heard-profile.ts";
import type { FollowedSpeech, FollowingPass, HeldRendering } from "./pass.ts";

/** How near the voice came to a person in what can be measured by a formula. */
export interface Acoustics {
  /** Our median pitch above the clip's. */
  readonly pitchErrorSemitones: number;
  /** Standard deviation of our pitch's logarithm, as a share of the clip's. */
  readonly pitchSpread: number;
  /** Distance of our average spectrum from that of the person's other clip, without following and with. */
  readonly spectrumBeforeDb: number;
  readonly spectrumAfterDb: number;
  readonly clipLufs: number;
  /** Our loudness above the clip's. */
  readonly loudnessErrorLu: number;
}

/** In the order of the pass. */
export function acousticsOf({ unfollowed, followed }: FollowingPass): readonly Acoustics[] {
  const before = averageSpectrum(asClip(samplesOf(unfollowed)));
  return followed.map((speech) => nearness(speech, before));
}

function nearness({ clip, heldOut, spoken }: FollowedSpeech, before: Float64Array): Acoustics {
  const theirs = heardIn(clip);
  const ours = asClip(samplesOf(spoken));
  const ourPitch = joinSamples(fours(spoken).map((group) => heardIn(asClip(samplesOf(group))).pitch));
  const { bandEdgeHz } = theirs.recording;
  const wanted = averageSpectrum(heldOut);
  const clipLufs = loudness(clip);
  return {
    pitchErrorSemitones: (12 / Math.LN2) * (percentile(ourPitch, 0.5) - percentile(theirs.pitch, 0.5)),
    pitchSpread: standardDeviation(ourPitch) / standardDeviation(theirs.pitch),
    spectrumBeforeDb: spectralDistanceDb(before, wanted, bandEdgeHz),
    spectrumAfterDb: spectralDistanceDb(averageSpectrum(ours), wanted, bandEdgeHz),
    clipLufs,
    loudnessErrorLu: loudness(ours) - clipLufs,
  };
}

function loudness({ samples, sampleRateHz }: Clip): number {
  const lufs = loudnessOf(samples, sampleRateHz);
  if (lufs === null) throw new Error("A clip is silent.");
  return lufs;
}

function samplesOf(spoken: readonly HeldRendering[]): Float32Array {
  return joinSamples(spoken.map(({ samples }) => samples));
}
