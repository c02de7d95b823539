import type { Kernel } from "../kernel/kernel.ts";
import { BANDS } from "../listen/bands.ts";
import type { Work } from "../listen/work.ts";
import type { Network } from "../network.ts";
import type { ReadsText } from "../passages.ts";
import type { Timing } from "../plan.ts";
import { PLAIN } from "../waveform.ts";
import { type OwnPitch, ownPitch, readRehearsed } from "./own-pitch.ts";
import { decodeRehearsed, rehearse } from "./rehearsal.ts";
import { codebookOf } from "./tract.ts";

/** The voice as others are compared with it, found out when that is first asked for. */
export interface Studio {
  /** The rehearsed sentences as the network reads them, and their pitch. */
  plans(): Promise<{ readonly timings: readonly Timing[]; readonly pitch: OwnPitch }>;
  /** The voiced sounds of the voice as it was trained. */
  codebook(): Promise<Float32Array>;
}

export interface StudioParts {
  readonly network: Network;
  readonly kernel: Kernel;
  readonly reader: ReadsText;
  run<T>(work: Work<T>): Promise<T>;
}

export function createStudio({ network, kernel, reader, run }: StudioParts): Studio {
  const plans = once(async () => {
    const timings = await readRehearsed(network, (sentence) => reader.read(sentence));
    return { timings, pitch: await ownPitch(network, timings) };
  });
  const codebook = once(async () => {
    const asTrained = { centreHz: (medianHz: number) => medianHz, spread: (deviation: number) => deviation };
    const decoded = await decodeRehearsed(network, (await plans()).timings, { register: asTrained });
    return codebookOf(voicedOnly(await run(rehearse(kernel, decoded, () => PLAIN))));
  });
  return { plans, codebook };
}

/** The voiced frames of a sound. */
export function voicedOnly({
  sound,
  isVoiced,
}: {
  readonly sound: Float32Array;
  readonly isVoiced: Uint8Array;
}): Float32Array {
  return sound.filter((_, at) => isVoiced[Math.floor(at / BANDS)] === 1);
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
