import { BANDS } from "./analysis/bands.ts";

/** Kinds of sound: clusters of spectra, nearly independent of level. */
export interface SoundKinds {
  readonly count: number;
  readonly centres: Float64Array;
}

/**
 * Clusters spectra by Lloyd's algorithm ("Least squares quantization in PCM", 1982), starting from spectra evenly
 * spaced in time, so that the result is repeatable.
 *
 * @param shapes [n, 40], from {@link shapesOf}
 */
export function sortIntoKinds(shapes: Float64Array, count: number): SoundKinds {
  const frames = shapes.length / BANDS;
  const centres = new Float64Array(count * BANDS);
  for (let kind = 0; kind < count; kind++) {
    const frame = Math.floor(((kind + 0.5) / count) * frames);
    centres.set(shapes.subarray(frame * BANDS, (frame + 1) * BANDS), kind * BANDS);
  }
  for (let round = 0; round < ROUNDS; round++) {
    const { sums, counts } = sumsByKind(shapes, shapes, { count, centres });
    centres.forEach((_, at) => {
      const members = counts[Math.floor(at / BANDS)]!;
      if (members > 0) centres[at] = sums[at]! / members;
    });
  }
  return { count, centres };
}

/** Sums `values` [n, 40] over the frames nearest to each kind. */
export function sumsByKind(
  shapes: Float64Array,
  values: Float64Array,
  kinds: SoundKinds,
): { readonly sums: Float64Array; readonly counts: Int32Array } {
  const sums = new Float64Array(kinds.count * BANDS);
  const counts = new Int32Array(kinds.count);
  for (let at = 0; at < shapes.length; at += BANDS) {
    const kind = nearestKind(kinds, shapes, at);
    counts[kind]!++;
    for (let band = 0; band < BANDS; band++) sums[kind * BANDS + band]! += values[at + band]!;
  }
  return { sums, counts };
}

export function nearestKind({ count, centres }: SoundKinds, shapes: ArrayLike<number>, at: number): number {
  let nearest = 0;
  let min = Number.POSITIVE_INFINITY;
  for (let kind = 0; kind < count; kind++) {
    const distance = squaredDistance(centres, kind * BANDS, shapes, at);
    if (distance < min) [nearest, min] = [kind, distance];
  }
  return nearest;
}

export function squaredDistance(
  a: ArrayLike<number>,
  from: number,
  b: ArrayLike<number>,
  at: number,
): number {
  let sum = 0;
  for (let band = 0; band < BANDS; band++) {
    const difference = a[from + band]! - b[at + band]!;
    sum += difference * difference;
  }
  return sum;
}

/** The mean that shapes are relative to. */
export interface ShapeReference {
  readonly mean: Float64Array;
  /** Bands from here on are ignored. */
  readonly bandLimit: number;
}

export function shapesOf(spectra: Float32Array, frame: ShapeReference): Float64Array {
  const shapes = Float64Array.from(spectra);
  for (let at = 0; at < shapes.length; at += BANDS) shapeInPlace(shapes.subarray(at, at + BANDS), frame);
  return shapes;
}

/** Turns one spectrum, [40], into its shape: relative to the mean, most of its level removed. */
export function shapeInPlace(spectrum: Float64Array, { mean, bandLimit }: ShapeReference): void {
  let level = 0;
  for (let band = 0; band < bandLimit; band++) {
    spectrum[band]! -= mean[band]!;
    level += spectrum[band]! / bandLimit;
  }
  for (let band = 0; band < BANDS; band++)
    spectrum[band] = band < bandLimit ? spectrum[band]! - LEVEL_SHARE * level : 0;
}

export function meanSpectrum(spectra: ArrayLike<number>): Float64Array {
  const mean = new Float64Array(BANDS);
  for (let at = 0; at < spectra.length; at++) mean[at % BANDS]! += spectra[at]!;
  return mean.map((sum) => (sum * BANDS) / Math.max(BANDS, spectra.length));
}

const ROUNDS = 12;
/** Some of the level stays: loud and soft sounds are different kinds. */
const LEVEL_SHARE = 0.7;
