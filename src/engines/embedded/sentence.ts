import type { AudioQuality, Script } from "../../core/script.ts";
import { plannedOptions } from "../prosody/options.ts";
import { forDecoder, type Plan } from "../prosody/plan.ts";
import type { PlanStyle } from "../prosody/plan-sentence.ts";
import { createRandom } from "../prosody/random.ts";
import { SentenceAudio } from "../prosody/sentence-audio.ts";
import { BIN_HZ, BINS } from "../prosody/spectral-frame.ts";
import { speechSpan } from "../prosody/speech-span.ts";
import { createDrift } from "./colour.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { Network } from "./network.ts";
import { voiceOptions } from "./preset.ts";
import type { Speaker } from "./speakers.ts";
import { SpectralHops } from "./spectral-hops.ts";
import { SpectrumStream } from "./spectrum-stream.ts";
import { Waveform } from "./waveform.ts";

/** How the sentences of one utterance are to be spoken. */
export interface SpeakingStyle {
  readonly speaker: Speaker;
  readonly delivery: Pick<Script["delivery"], "temperature" | "acousticTemperature" | "quality">;
  readonly preset: Script["preset"];
  readonly manner?: Script["manner"] | undefined;
  readonly seed: bigint;
}

/** How the sentences of that style are planned. */
export function planStyleOf({ speaker, delivery, preset, manner, seed }: SpeakingStyle): PlanStyle {
  const { liveliness, rate } = plannedOptions(preset, manner);
  return { speaker, temperature: delivery.temperature, liveliness, rate, seed };
}

/** Prepares a planned sentence's samples; nothing is decoded before they are asked for. */
export function sentenceAudio(
  network: Network,
  kernel: Kernel,
  plan: Plan,
  { speaker, delivery, preset, seed }: SpeakingStyle,
  index: number,
): SentenceAudio {
  const span = speechSpan(plan);
  const drift = voiceOptions(preset).acoustics ? delivery.acousticTemperature : 0;
  const colouring = speaker.colour(plan);
  const waveform = new Waveform(kernel, {
    pitchHz: plan.pitchHz,
    from: span.from,
    noiseSeed: createRandom(seed, index, "noise").bits(),
    bins: BINS_FOR[delivery.quality],
    colouring: drift === 0 ? colouring : createDrift(colouring, drift, createRandom(seed, index, "colour")),
  });
  const stream = new SpectrumStream(network, forDecoder(plan, speaker), {
    ...span,
    context: SILENT_CONTEXT_FRAMES,
  });
  return new SentenceAudio(new SpectralHops(stream, waveform), span, plan.gain);
}

/**
 * Of the silence around a sentence the decoder need not see all: with 10 of its 27 frames of context the first audible
 * frames move by 0.03 nepers RMS, the rest by less than 0.003 (measured on the goldens).
 */
const SILENT_CONTEXT_FRAMES = 10;

/** Bandwidth: 4 kHz, 7 kHz, and all that the voice has. */
const BINS_FOR: Readonly<Record<AudioQuality, number>> = {
  low: 4_000 / BIN_HZ + 1,
  medium: 7_000 / BIN_HZ + 1,
  high: BINS,
};
