/**
 * How many of the frames end in a click: in a sample that is not what those around it let expect. Either it is exactly 0
 * between two that are not, or the step from interpolation to it is three times the largest within 2 ms.
 */
export function clicksIn(frames: readonly Float32Array[]): number {
  let clicks = 0;
  for (const [index, frame] of frames.entries()) {
    const next = frames[index + 1];
    if (next === undefined || next.length < AROUND + REACH || frame.length < AROUND + REACH + 1) continue;
    const around = new Float32Array(2 * (AROUND + REACH) + 1);
    around.set(frame.subarray(frame.length - AROUND - REACH - 1));
    around.set(next.subarray(0, AROUND + REACH), AROUND + REACH + 1);
    if (isClick(around, AROUND + REACH)) clicks += 1;
  }
  return clicks;
}

function isClick(samples: Float32Array, at: number): boolean {
  const [before, here, after] = [samples[at - 1], samples[at], samples[at + 1]];
  if (here === 0 && before !== 0 && after !== 0) return true;
  const error = surprise(samples, at);
  let usual = INAUDIBLE;
  for (let offset = REACH + 1; offset <= AROUND; offset++) {
    usual = Math.max(usual, surprise(samples, at - offset), surprise(samples, at + offset));
  }
  return error > STANDS_OUT * usual;
}

/** How far a sample is from the cubic through two on either side. */
function surprise(samples: Float32Array, at: number): number {
  const near = samples[at - 1]! + samples[at + 1]!;
  const far = samples[at - 2]! + samples[at + 2]!;
  return Math.abs(samples[at]! - (4 * near - far) / 6);
}

const REACH = 2;
/** 2 ms. */
const AROUND = 48;
const STANDS_OUT = 3;
/** 80 dB below full scale. */
const INAUDIBLE = 1e-4;
