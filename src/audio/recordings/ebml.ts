import { AudioFormatError } from "../audio-format-error.ts";
import type { DecodingBudget } from "./decoding-budget.ts";

/** An element of a file of EBML (RFC 8794). */
export interface Element {
  /** With the marker of its length, as it is written. */
  readonly id: number;
  /** Empty for those that are gone into: their elements follow. */
  readonly body: Uint8Array;
}

/**
 * The elements of a file in order, those inside `containers` too. A container whose size is unknown, as streaming writers
 * leave it, ends where the file does. Throws {@link AudioFormatError} where the file is cut off or damaged, or the budget is
 * used up.
 */
export function* elementsOf(
  bytes: Uint8Array,
  containers: ReadonlySet<number>,
  budget: DecodingBudget,
): Generator<Element, void, void> {
  for (let at = 0; at < bytes.length; ) {
    budget.chargeItems(1);
    const begin = at;
    const id = readNumber(bytes, at, 4, false);
    const size = readNumber(bytes, id.end, 8, true);
    const end = size.isUnknown ? bytes.length : size.end + size.value;
    if (end > bytes.length) throw cutOff(begin);
    if (containers.has(id.value)) {
      yield { id: id.value, body: bytes.subarray(0, 0) };
      at = size.end;
    } else {
      if (size.isUnknown)
        throw new AudioFormatError(`it is damaged at byte ${begin}: an element has no size`);
      yield { id: id.value, body: bytes.subarray(size.end, end) };
      at = end;
    }
  }
}

interface Variable {
  readonly value: number;
  readonly end: number;
  /** All bits of it are set. */
  readonly isUnknown: boolean;
}

/** A number of variable length: as many zeros before its first one as bytes follow. */
function readNumber(bytes: Uint8Array, at: number, maxBytes: number, isMarkerCut: boolean): Variable {
  const first = bytes[at];
  if (first === undefined) throw cutOff(at);
  const length = Math.clz32(first) - 23;
  if (length > maxBytes)
    throw new AudioFormatError(`it is damaged at byte ${at}: no element of WebM begins there`);
  if (at + length > bytes.length) throw cutOff(at);
  const mask = 0xff >> length;
  let isUnknown = (first & mask) === mask;
  let value = isMarkerCut ? first & mask : first;
  for (let next = at + 1; next < at + length; next += 1) {
    isUnknown &&= bytes[next] === 0xff;
    value = value * 256 + bytes[next]!;
  }
  return { value, end: at + length, isUnknown };
}

function cutOff(at: number): AudioFormatError {
  return new AudioFormatError(`it is cut off in the element at byte ${at}`);
}
