import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { loudnessOf } from "../../../audio/loudness.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import { BANDS, bandLogs } from "../../following/analysis/bands.ts";
import { createFrameAnalyser } from "../../following/analysis/clip-frames.ts";
import { percentile } from "../../following/analysis/statistics.ts";
import type { Work } from "../../following/analysis/work.ts";
import { drawProsody, editContour, type Register } from "../../prosody/delivery.ts";
import { HOP_SAMPLES, VOICED_ABOVE_HZ } from "../../prosody/frames.ts";
import { forDecoder, type Plan, planContour, type Timing } from "../../prosody/plan.ts";
import { createRandom } from "../../prosody/random.ts";
import { BINS } from "../../prosody/spectral-frame.ts";
import { type SpeechSpan, speechSpan } from "../../prosody/speech-span.ts";
import { SPECTRUM_VALUES } from "../geometry.ts";
import { pulseStrength } from "../hold.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Network } from "../network.ts";
import type { Speaker } from "../speakers.ts";
import { type Spectra, SpectrumStream } from "../spectrum-stream.ts";
import { type Colouring, Waveform } from "../waveform.ts";
import { describe } from "./sound-map.ts";

/** How the voice sounds, as far as others can be compared with it. */
export interface OwnSpeech {
  /** All of it, at 24 kHz. */
  readonly samples: Float32Array;
  readonly loudnessLufs: number;
  /** [frames, 40]: log power in the bands as it sounds. */
  readonly sound: Float32Array;
  /** [frames, 40]: the same of the frames' descriptions, before they sound. */
  readonly described: Float32Array;
  /** Whether each frame is voiced. */
  readonly isVoiced: Uint8Array;
}

/** A sentence decoded, ready to sound in any colour. */
export interface Decoded {
  readonly plan: Plan;
  readonly span: SpeechSpan;
  readonly spectra: readonly Spectra[];
}

/** Plans and decodes at some pitch the sentences that are said aloud. */
export async function decodeCalibration(
  network: Network,
  timings: readonly Timing[],
  { register, decoderPitch = 1 }: { readonly register: Register; readonly decoderPitch?: number },
): Promise<readonly Decoded[]> {
  const decoded: Decoded[] = [];
  for (const timing of timings.slice(0, ALOUD)) {
    const plan = await planContour(network, timing);
    editContour(plan, drawProsody(timing.ids, 0, createRandom(0n, 0, "delivery")), register);
    const span = speechSpan(plan);
    const stream = new SpectrumStream(network, forDecoder(plan, { decoderPitch }), span);
    const spectra: Spectra[] = [];
    for (let next = await stream.next(); next !== null; next = await stream.next())
      spectra.push({ ...next, values: next.values.slice() });
    decoded.push({ plan, span, spectra });
  }
  return decoded;
}

/** Lets decoded sentences sound, and listens. */
export function* measureCalibration(
  kernel: Kernel,
  decoded: readonly Decoded[],
  colour: Speaker["colour"],
): Work<OwnSpeech> {
  const look = createFrameAnalyser();
  const parts: Float32Array[] = [];
  const sound: number[] = [];
  const described: number[] = [];
  const isVoiced: number[] = [];
  for (const { plan, span, spectra } of decoded) {
    const descriptions = new Float32Array(plan.frames * BANDS);
    const samples = yield* soundOf(
      kernel,
      { plan, span, spectra },
      describing(colour(plan), plan, descriptions),
    );
    parts.push(samples.subarray(span.from * HOP_SAMPLES));
    const loudest = LOUDNESS_RANGE + loudestOf(descriptions, span);
    for (let frame = span.onset; frame <= span.last; frame++) {
      const description = descriptions.subarray(frame * BANDS, (frame + 1) * BANDS);
      if (peakOf(description) < loudest) continue;
      described.push(...description);
      sound.push(...bandLogs(look(samples, frame), new Float32Array(BANDS)));
      isVoiced.push(plan.pitchHz[frame]! > VOICED_ABOVE_HZ ? 1 : 0);
      if (frame % FRAMES_AT_ONCE === 0) yield;
    }
  }
  const samples = joinSamples(parts);
  return {
    samples,
    loudnessLufs: loudnessOf(samples, SAMPLE_RATE_HZ) ?? SILENT_LUFS,
    sound: Float32Array.from(sound),
    described: Float32Array.from(described),
    isVoiced: Uint8Array.from(isVoiced),
  };
}

/** The median of `pulseStrength` over what is sung, in a colour. */
export function* usualStrength(
  kernel: Kernel,
  decoded: readonly Decoded[],
  colour: Speaker["colour"],
): Work<number> {
  const strengths: number[] = [];
  for (const { plan, spectra } of decoded) {
    const colouring = colour(plan);
    for (const { first, count, values } of spectra) {
      for (let i = 0; i < count; i++) {
        colouring.apply(kernel, first + i, values, i * SPECTRUM_VALUES);
        const isSung = plan.energy[first + i]! >= SUNG_ENERGY;
        const strength = isSung ? pulseStrength(kernel, plan, first + i) : null;
        if (strength !== null) strengths.push(strength);
        if (i % FRAMES_AT_ONCE === 0) yield;
      }
    }
  }
  return strengths.length === 0 ? 0 : percentile(strengths, 0.5);
}

/** How many of the calibration sentences are said aloud: some 12 s of speech. */
const ALOUD = 4;

/** Below this pulses are weak by themselves. */
const SUNG_ENERGY = 6.5;
const FRAMES_AT_ONCE = 40;
const SILENT_LUFS = -70;
/** Frames further below the loudest than 30 dB are not compared: a recording has noise there. */
const LOUDNESS_RANGE = -30 * (Math.LN10 / 10);

function peakOf(bands: Float32Array): number {
  return bands.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}

function loudestOf(descriptions: Float32Array, { onset, last }: SpeechSpan): number {
  return peakOf(descriptions.subarray(onset * BANDS, (last + 1) * BANDS));
}

/** A colouring that writes down how each frame is described. */
function describing(under: Colouring, plan: Plan, descriptions: Float32Array): Colouring {
  return {
    apply(kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      describe(kernel, plan.pitchHz[frame]!, descriptions.subarray(frame * BANDS, (frame + 1) * BANDS));
    },
  };
}

/** The sentence's samples, frame n centred on n · 300. */
function* soundOf(
  kernel: Kernel,
  { plan, span, spectra }: Decoded,
  colouring: Colouring,
): Work<Float32Array> {
  const waveform = new Waveform(kernel, {
    pitchHz: plan.pitchHz,
    from: span.from,
    noiseSeed: 0,
    bins: BINS,
    colouring,
  });
  const samples = new Float32Array(plan.frames * HOP_SAMPLES);
  const hop = new Float32Array(HOP_SAMPLES);
  for (const { first, count, values } of spectra) {
    for (let i = 0; i < count; i++) {
      waveform.add(values, i * SPECTRUM_VALUES, hop);
      const at = (first + i - 2) * HOP_SAMPLES;
      if (at >= 0) samples.set(hop, at);
      if (i % FRAMES_AT_ONCE === 0) yield;
    }
  }
  return samples;
}
