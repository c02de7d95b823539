/** The sizes of a Mimi codec (Défossez et al., "Moshi: a speech-text foundation model", 2024). */
export interface MimiSizes {
  /** Of the latents, and of the transformers. */
  readonly width: number;
  /** Of the outermost convolution; each of the four stages doubles it. */
  readonly filters: number;
  /** By which each stage of the decoder lengthens its signal: 8, 6, 5, 4. */
  readonly ratios: readonly number[];
  readonly kernel: number;
  readonly lastKernel: number;
  readonly residualKernel: number;
  /** By which a residual block narrows inside. */
  readonly compress: number;
  readonly layers: number;
  readonly heads: number;
  readonly headWidth: number;
  readonly innerWidth: number;
  readonly epsilon: number;
  readonly theta: number;
  /** Positions, its own among them, that one looks at; `null`: all before. */
  readonly window: number | null;
  readonly codebooks: number;
  /** Of these, those that are quantised apart from the others. */
  readonly semanticCodebooks: number;
  readonly codes: number;
  readonly codeWidth: number;
}

/** By which the latents are shortened once more, from 25 to 12.5 a second. */
export const HALVING = 2;

/** Samples that a frame of codes stands for. */
export function samplesPerFrame({ ratios }: MimiSizes): number {
  return ratios.reduce((product, ratio) => product * ratio, HALVING);
}

/** Which stack of quantisers a codebook is in, and where there. */
export function placeOf({ semanticCodebooks }: MimiSizes, codebook: number): { part: string; at: number } {
  return codebook < semanticCodebooks
    ? { part: "semantic", at: codebook }
    : { part: "acoustic", at: codebook - semanticCodebooks };
}
