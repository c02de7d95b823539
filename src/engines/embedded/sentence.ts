import type { AudioQuality, Script } from "../../core/script.ts";
import { plannedOptions } from "../prosody/apply-manner.ts";
import { BIN_HZ, BINS } from "../prosody/frames.ts";
import { forDecoder, type Plan, speechSpan } from "../prosody/plan.ts";
import type { PlanStyle } from "../prosody/plan-sentence.ts";
import { createRandom } from "../prosody/random.ts";
import { SentenceAudio } from "../prosody/sentence-audio.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { EmbeddedNetwork } from "./network.ts";
import { readPreset } from "./preset.ts";
import type { EmbeddedSpeaker } from "./speakers.ts";
import { createSpectralDrift } from "./spectral-envelope.ts";
import { SpectrumStream, spectralHops } from "./spectrum-stream.ts";
import { Waveform } from "./waveform.ts";

export interface SpeakingStyle {
  readonly speaker: EmbeddedSpeaker;
  readonly delivery: Pick<Script["delivery"], "temperature" | "acousticTemperature" | "quality">;
  readonly preset: Script["preset"];
  readonly manner?: Script["manner"] | undefined;
  readonly seed: bigint;
}

export function planStyleOf({ speaker, delivery, preset, manner, seed }: SpeakingStyle): PlanStyle {
  const { liveliness, rate } = plannedOptions(preset, manner);
  return { speaker, temperature: delivery.temperature, liveliness, rate, seed };
}

/** Returns a planned sentence's audio. Nothing is decoded before samples are asked for. */
export function sentenceAudio(
  network: EmbeddedNetwork,
  kernel: Kernel,
  plan: Plan,
  { speaker, delivery, preset, seed }: SpeakingStyle,
  index: number,
): SentenceAudio {
  const span = speechSpan(plan);
  const drift = readPreset(preset).acoustics ? delivery.acousticTemperature : 0;
  const transform = speaker.spectrumTransform(plan);
  const waveform = new Waveform(kernel, {
    pitchHz: plan.pitchHz,
    from: span.from,
    noiseSeed: createRandom(seed, index, "noise").bits(),
    bins: BINS_FOR[delivery.quality],
    transform:
      drift === 0 ? transform : createSpectralDrift(transform, drift, createRandom(seed, index, "drift")),
  });
  const stream = new SpectrumStream(network, forDecoder(plan, speaker), {
    ...span,
    context: SILENT_CONTEXT_FRAMES,
  });
  return new SentenceAudio(spectralHops(stream, waveform), span, plan.gain);
}

/**
 * Frames of context in the silence around a sentence, of the 27 that the decoder sees. With 10, the first audible
 * frames move by 0.03 nepers RMS, the rest by less than 0.003 (measured on the goldens).
 */
const SILENT_CONTEXT_FRAMES = 10;

const BINS_FOR: Readonly<Record<AudioQuality, number>> = {
  low: 4_000 / BIN_HZ + 1,
  medium: 7_000 / BIN_HZ + 1,
  high: BINS,
};
