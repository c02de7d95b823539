import type { WhisperDescription } from "../description.ts";

/** Chooses what is written. */
export interface Sampler {
  /** The likeliest text token, or the end. @param isFirst whether nothing is written yet */
  argmax(logits: Float32Array, isFirst: boolean): { readonly id: number; readonly logProbability: number };
  /** The likeliest language, among all that the model knows. */
  language(logits: Float32Array): string;
  /** How likely a language is, among those. */
  languageProbability(logits: Float32Array, code: string): number;
}

export function samplerOf({ special, suppressed, suppressedFirst }: WhisperDescription): Sampler {
  const never = new Uint8Array(special.end + 1);
  for (const id of suppressed) never[id] = 1;
  never[special.end] = 0;
  const neverFirst = never.slice();
  for (const id of suppressedFirst) neverFirst[id] = 1;
  const codes = Object.keys(special.languages);
  const languageIds = Object.values(special.languages);

  function probabilities(logits: Float32Array): number[] {
    const own = languageIds.map((id) => logits[id]!);
    const max = Math.max(...own);
    const parts = own.map((value) => Math.exp(value - max));
    const sum = parts.reduce((total, part) => total + part, 0);
    return parts.map((part) => part / sum);
  }

  return {
    argmax(logits, isFirst) {
      const banned = isFirst ? neverFirst : never;
      let id = special.end;
      let max = Number.NEGATIVE_INFINITY;
      for (let at = 0; at <= special.end; at++) {
        if (logits[at]! > max && banned[at] === 0) [id, max] = [at, logits[at]!];
      }
      return { id, logProbability: logProbabilityOf(logits, id) };
    },
    language(logits) {
      const all = probabilities(logits);
      const at = all.indexOf(Math.max(...all));
      return codes[at]!;
    },
    languageProbability: (logits, code) => probabilities(logits)[codes.indexOf(code)]!,
  };
}

/** What is lower than the likeliest by so much comes, all of it together, to less than the sixth digit. */
const NEGLIGIBLE = 25;

/** Natural logarithm. */
export function logProbabilityOf(logits: Float32Array, id: number): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < logits.length; at++) if (logits[at]! > max) max = logits[at]!;
  let sum = 0;
  for (let at = 0; at < logits.length; at++) {
    const below = logits[at]! - max;
    if (below > -NEGLIGIBLE) sum += Math.exp(below);
  }
  return logits[id]! - max - Math.log(sum);
}
