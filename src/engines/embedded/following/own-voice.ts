import { voicedOnly } from "../../following/analysis/voice-profile.ts";
import type { Work } from "../../following/analysis/work.ts";
import { CALIBRATION_SENTENCES, type OwnPitch, ownPitch } from "../../following/own-pitch.ts";
import { codebookOf } from "../../following/tract.ts";
import { planTiming, type Timing } from "../../prosody/plan.ts";
import type { SegmentReader } from "../../prosody/segments.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Network } from "../network.ts";
import { PLAIN } from "../waveform.ts";
import { decodeCalibration, measureCalibration } from "./calibration.ts";

/** The voice as others are compared with it, found out when that is first asked for. */
export interface OwnVoice {
  /** The calibration sentences as the network reads them, and their pitch. */
  plans(): Promise<{ readonly timings: readonly Timing[]; readonly pitch: OwnPitch }>;
  /** The voiced sounds of the voice as it was trained. */
  codebook(): Promise<Float32Array>;
}

export interface OwnVoiceParts {
  readonly network: Network;
  readonly kernel: Kernel;
  readonly reader: SegmentReader;
  run<T>(work: Work<T>): Promise<T>;
}

export function createOwnVoice({ network, kernel, reader, run }: OwnVoiceParts): OwnVoice {
  const plans = once(async () => {
    const timings: Timing[] = [];
    for (const sentence of CALIBRATION_SENTENCES) {
      for (const { ids } of await reader.read(sentence)) timings.push(await planTiming(network, ids));
    }
    return { timings, pitch: await ownPitch(network, timings) };
  });
  const codebook = once(async () => {
    const asTrained = { centreHz: (medianHz: number) => medianHz, spread: (deviation: number) => deviation };
    const decoded = await decodeCalibration(network, (await plans()).timings, { register: asTrained });
    return codebookOf(voicedOnly(await run(measureCalibration(kernel, decoded, () => PLAIN))));
  });
  return { plans, codebook };
}

/** Finds something out once; when that fails, again the next time. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}
