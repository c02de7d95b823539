import { AudioFormatError } from "../audio-format-error.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { openOpus, readOpusHead } from "./opus.ts";
import type { RecordingDecoder } from "./recording.ts";

/** Opens a file of Opus in WebM or Matroska (RFC 9559), as browsers record it. Throws as `openRecording` does. */
export function openWebm(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const track = findTrack(bytes, budget);
  const head = readOpusHead(track.head ?? new Uint8Array(0));
  const packets = () => trackPackets(bytes, track.number, budget);
  return openOpus({ head, packets, endSamples48: null }, budget);
}

const ID = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  blockGroup: 0xa0,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codec: 0x86,
  codecPrivate: 0x63a2,
  encodings: 0x6d80,
  simpleBlock: 0xa3,
  block: 0xa1,
} as const;

/** Elements whose children are read; others are skipped. */
const CONTAINERS: ReadonlySet<number> = new Set([ID.segment, ID.cluster, ID.blockGroup, ID.tracks, ID.track]);
const AUDIO = 2;

interface Track {
  number?: number;
  type?: number;
  codec?: string;
  head?: Uint8Array;
  isEncoded?: boolean;
}

/** More than any recorder writes. */
const MAX_TRACKS = 64;

/**
 * Returns the first audio track. Throws {@link AudioFormatError} if there is none of Opus, or the file is damaged.
 */
function findTrack(bytes: Uint8Array, budget: DecodingBudget): Track {
  const tracks: Track[] = [];
  for (const { id, body } of elementsOf(bytes, CONTAINERS, budget)) {
    if (id === ID.track) {
      if (tracks.length === MAX_TRACKS) throw new AudioFormatError(`it has over ${MAX_TRACKS} tracks`);
      tracks.push({});
      continue;
    }
    if (id === ID.simpleBlock || id === ID.block) break;
    const track = tracks.at(-1);
    if (track === undefined) continue;
    if (id === ID.trackNumber) track.number = numberIn(body);
    else if (id === ID.trackType) track.type = numberIn(body);
    else if (id === ID.codec)
      track.codec = Buffer.from(body.subarray(0, 64)).toString("latin1").replace(/\0+$/, "");
    else if (id === ID.codecPrivate) track.head = body;
    else if (id === ID.encodings) track.isEncoded = true;
  }
  return choose(tracks);
}

/** Yields the packets of a track. Throws {@link AudioFormatError} if the file is damaged. */
export function* trackPackets(
  bytes: Uint8Array,
  track: number | undefined,
  budget: DecodingBudget,
): Generator<Uint8Array, void, void> {
  for (const { id, body } of elementsOf(bytes, CONTAINERS, budget)) {
    if (id === ID.simpleBlock || id === ID.block) yield* packetsIn(body, track, budget);
  }
}

function choose(tracks: readonly Track[]): Track {
  const track = tracks.find(({ type }) => type === AUDIO);
  if (track === undefined) throw new AudioFormatError("it is WebM without an audio track");
  if (track.codec !== "A_OPUS") {
    const codec = /^[\w/]{1,32}$/.test(track.codec ?? "") ? track.codec : "another codec";
    throw new AudioFormatError(`it is WebM with ${codec}, and only Opus can be read in WebM`);
  }
  if (track.isEncoded === true)
    throw new AudioFormatError("its audio track is compressed or encrypted further");
  return track;
}

/** Reads at most eight bytes, the longest valid number. */
function numberIn(body: Uint8Array): number {
  return body.subarray(0, 8).reduce((value, byte) => value * 256 + byte, 0);
}

/** Returns the frames of a block that belong to the track: one, or several in one of three kinds of lacing. */
function packetsIn(
  block: Element["body"],
  track: number | undefined,
  budget: DecodingBudget,
): readonly Uint8Array[] {
  const number = readNumber(block, 0, 8, true);
  const at = number.end + 3;
  if (at > block.length) throw damaged();
  if (number.value !== track) return [];
  const lacing = (block[at - 1]! >> 1) & 3;
  if (lacing === 0) return [block.subarray(at)];
  if (at >= block.length) throw damaged();
  const count = block[at]! + 1;
  budget.chargeItems(count);
  const sized = [fixedSizes, xiphSizes, fixedSizes, ebmlSizes][lacing]!(block, at + 1, count);
  const packets: Uint8Array[] = [];
  let from = sized.at;
  for (const size of sized.sizes) {
    if (size < 0 || from + size > block.length) throw damaged();
    packets.push(block.subarray(from, from + size));
    from += size;
  }
  packets.push(block.subarray(from));
  return packets;
}

/** Sizes of all frames but the last, and the offset of the first. */
interface Sizes {
  readonly sizes: readonly number[];
  readonly at: number;
}

function xiphSizes(block: Uint8Array, from: number, count: number): Sizes {
  const sizes: number[] = [];
  let at = from;
  while (sizes.length < count - 1) {
    let size = 0;
    let byte: number;
    do {
      if (at >= block.length) throw damaged();
      byte = block[at]!;
      size += byte;
      at += 1;
    } while (byte === 255);
    sizes.push(size);
  }
  return { sizes, at };
}

function fixedSizes(block: Uint8Array, at: number, count: number): Sizes {
  const size = (block.length - at) / count;
  if (!Number.isInteger(size)) throw damaged();
  return { sizes: Array<number>(count - 1).fill(size), at };
}

/** Reads the first size, then differences, which are stored with half of their range added. */
function ebmlSizes(block: Uint8Array, from: number, count: number): Sizes {
  const sizes: number[] = [];
  let at = from;
  let size = 0;
  while (sizes.length < count - 1) {
    const { value, end } = readNumber(block, at, 8, true);
    size = sizes.length === 0 ? value : size + value - (2 ** (7 * (end - at) - 1) - 1);
    at = end;
    sizes.push(size);
  }
  return { sizes, at };
}

function damaged(): AudioFormatError {
  return new AudioFormatError("it is damaged: a block of WebM does not hold what it says");
}

/** Element of an EBML file (RFC 8794). */
interface Element {
  /** Including the length marker, as written. */
  readonly id: number;
  /** Empty for containers: their elements follow. */
  readonly body: Uint8Array;
}

/**
 * Yields the elements of a file in order, including those inside `containers`. A container of unknown size, as
 * streaming writers leave it, ends with the file. Throws {@link AudioFormatError} if the file is cut off or damaged,
 * or the budget is used up.
 */
function* elementsOf(
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
  /** Whether all bits are set. */
  readonly isUnknown: boolean;
}

/** Reads a variable-length number: the leading zeros give the number of further bytes. */
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
