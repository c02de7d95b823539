/**
 * Every `count` samples as their mean, and what is left over dropped: for rates so high that nothing of speech is near the
 * frequencies that fold back. Linear time, in a new array.
 */
export function averaged(samples: Float32Array, count: number): Float32Array {
  const means = new Float32Array(Math.floor(samples.length / count));
  for (let at = 0, from = 0; at < means.length; at += 1) {
    let sum = 0;
    for (const to = from + count; from < to; from += 1) sum += samples[from]!;
    means[at] = sum / count;
  }
  return means;
}
