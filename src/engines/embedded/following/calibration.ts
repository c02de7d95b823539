import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { loudnessOf } from "../../../audio/loudness.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import { BANDS, bandLogs } from "../../following/analysis/bands.ts";
import { createFrameAnalyser } from "../../following/analysis/clip-frames.ts";
import { percentile } from "../../following/analysis/statistics.ts";
import type { Work } from "../../following/analysis/work.ts";
import { drawProsody, editContour, type Register } from "../../prosody/delivery.ts";
import { BINS, HOP_SAMPLES, VOICED_ABOVE_HZ } from "../../prosody/frames.ts";
import {
  forDecoder,
  type Plan,
  planContour,
  type SpeechSpan,
  speechSpan,
  type Timing,
} from "../../prosody/plan.ts";
import { createRandom } from "../../prosody/random.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { SPECTRUM_VALUES } from "../kernel/layout.ts";
import type { EmbeddedNetwork } from "../network.ts";
import type { SpectrumTransform, TransformFactory } from "../spectral-envelope.ts";
import { type Spectra, SpectrumStream } from "../spectrum-stream.ts";
import { pulseExcess } from "../thump-limiter.ts";
import { Waveform } from "../waveform.ts";
import { describeFrame } from "./sound-map.ts";

/** Calibration sentences as the voice speaks them, for comparison with clips. */
export interface CalibrationSpeech {
  /** At 24 kHz. */
  readonly samples: Float32Array;
  readonly loudnessLufs: number;
  /** [frames, 40]: log band powers of the sound. */
  readonly sound: Float32Array;
  /** [frames, 40]: log band powers of the frames' spectra before synthesis. */
  readonly described: Float32Array;
  readonly isVoiced: Uint8Array;
}

export interface DecodedSentence {
  readonly plan: Plan;
  readonly span: SpeechSpan;
  readonly spectra: readonly Spectra[];
}

export async function decodeCalibration(
  network: EmbeddedNetwork,
  timings: readonly Timing[],
  { register, decoderPitch = 1 }: { readonly register: Register; readonly decoderPitch?: number },
): Promise<readonly DecodedSentence[]> {
  const decoded: DecodedSentence[] = [];
  for (const timing of timings.slice(0, SPOKEN_SENTENCES)) {
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

export function* measureCalibration(
  kernel: Kernel,
  decoded: readonly DecodedSentence[],
  createTransform: TransformFactory,
): Work<CalibrationSpeech> {
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
      describing(createTransform(plan), plan, descriptions),
    );
    parts.push(samples.subarray(span.from * HOP_SAMPLES));
    const spoken = descriptions.subarray(span.onset * BANDS, (span.last + 1) * BANDS);
    const loudest = LOUDNESS_RANGE + peakOf(spoken);
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

/** Returns the median of `pulseExcess` over strongly voiced frames. */
export function* medianPulseExcess(
  kernel: Kernel,
  decoded: readonly DecodedSentence[],
  createTransform: TransformFactory,
): Work<number> {
  const strengths: number[] = [];
  for (const { plan, spectra } of decoded) {
    const transform = createTransform(plan);
    for (const { first, count, values } of spectra) {
      for (let i = 0; i < count; i++) {
        transform.apply(kernel, first + i, values, i * SPECTRUM_VALUES);
        const isSung = plan.energy[first + i]! >= MIN_STRONG_ENERGY;
        const strength = isSung ? pulseExcess(kernel, plan, first + i) : null;
        if (strength !== null) strengths.push(strength);
        if (i % FRAMES_AT_ONCE === 0) yield;
      }
    }
  }
  return strengths.length === 0 ? 0 : percentile(strengths, 0.5);
}

/** Calibration sentences that are synthesised: some 12 s of speech. */
const SPOKEN_SENTENCES = 4;

/** Below this energy pulses are weak by themselves. */
const MIN_STRONG_ENERGY = 6.5;
const FRAMES_AT_ONCE = 40;
const SILENT_LUFS = -70;
/** Frames more than 30 dB below the loudest are left out: recordings have noise there. */
const LOUDNESS_RANGE = -30 * (Math.LN10 / 10);

function peakOf(bands: Float32Array): number {
  return bands.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}

function describing(under: SpectrumTransform, plan: Plan, descriptions: Float32Array): SpectrumTransform {
  return {
    apply(kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      describeFrame(kernel, plan.pitchHz[frame]!, descriptions.subarray(frame * BANDS, (frame + 1) * BANDS));
    },
  };
}

/** Returns the sentence's samples; frame n is centred on sample n · 300. */
function* soundOf(
  kernel: Kernel,
  { plan, span, spectra }: DecodedSentence,
  transform: SpectrumTransform,
): Work<Float32Array> {
  const waveform = new Waveform(kernel, {
    pitchHz: plan.pitchHz,
    from: span.from,
    noiseSeed: 0,
    bins: BINS,
    transform,
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
