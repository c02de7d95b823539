import type { AudioQuality, Script } from "../../model/script.ts";
import { createDrift } from "./colour.ts";
import { drawProsody, editContour, editEnergy, editTiming } from "./delivery.ts";
import { BIN_HZ, BINS } from "./geometry.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { Network } from "./network.ts";
import { widenMarkPauses } from "./pauses.ts";
import { forDecoder, type Plan, planContour, planTiming } from "./plan.ts";
import { voiceOptions } from "./preset.ts";
import { createRandom } from "./random.ts";
import { bend, registerIn } from "./rhythm/bend.ts";
import { pace } from "./rhythm/pace.ts";
import { type Rhythm, varied } from "./rhythm/rhythm.ts";
import { SentenceAudio } from "./sentence-audio.ts";
import type { Speaker } from "./speakers.ts";
import { SpectrumStream } from "./spectrum-stream.ts";
import { speechSpan } from "./speech-span.ts";
import { Waveform } from "./waveform.ts";

/** How the sentences of one utterance are to be spoken. */
export interface SpeakingStyle {
  readonly speaker: Speaker;
  readonly delivery: Pick<Script["delivery"], "temperature" | "acousticTemperature" | "quality">;
  readonly preset: Script["preset"];
  readonly seed: bigint;
}

/**
 * Plans a sentence: the network's durations, edited, then its pitch, edited: by what the text asks for, its rhythm, and
 * by what the temperature draws. All that is random comes from the seed and the sentence's number in its utterance, so
 * it does not matter what was spoken before, or how much of it.
 */
export async function planSentence(
  network: Network,
  { ids, rhythm }: { readonly ids: readonly number[]; readonly rhythm: Rhythm },
  { speaker, delivery, preset, seed }: SpeakingStyle,
  index: number,
): Promise<Plan> {
  const { liveliness, rate } = voiceOptions(preset);
  const strength = ROOM * liveliness * delivery.temperature;
  const asked = varied(rhythm, strength, createRandom(seed, index, "rhythm"));
  const prosody = drawProsody(ids, strength, createRandom(seed, index, "delivery"));
  const timing = await planTiming(network, ids);
  editTiming(timing, prosody, rate);
  pace(timing, { ...asked, tempo: asked.tempo * speaker.tempo }, { stretch: prosody.stretch, rate });
  const plan = await planContour(network, timing);
  editContour(plan, prosody, registerIn(asked, speaker.register));
  editEnergy(plan, speaker.dynamics);
  bend(plan, asked);
  return widenMarkPauses(
    plan,
    prosody.stretch.map((stretch) => stretch * speaker.pause),
  );
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
  return new SentenceAudio(
    new SpectrumStream(network, forDecoder(plan, speaker), { ...span, context: SILENT_CONTEXT_FRAMES }),
    waveform,
    span,
  );
}

/** A temperature of 1 is a little livelier than what was first measured as harmless. */
const ROOM = 1.3;

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
