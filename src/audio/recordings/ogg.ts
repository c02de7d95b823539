import { AudioFormatError } from "../audio-format-error.ts";
import { OGG_CHECKSUM_AT, oggChecksum } from "../checksums.ts";
import { joinBytes } from "../pcm.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { MAX_PACKET_BYTES, openOpus, readOpusHead } from "./opus.ts";
import type { RecordingDecoder } from "./recording.ts";

/** Opens a file of Opus in Ogg (RFC 3533, RFC 7845). Throws as `openRecording` does. */
export function openOgg(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const { serial, endGranule } = findOpus(bytes, budget);
  const [head] = packetsOf(bytes, serial, budget);
  if (head === undefined) throw new AudioFormatError("it has no packets");
  const packets = () => audioPackets(packetsOf(bytes, serial, budget));
  return openOpus({ head: readOpusHead(head), packets, endSamples48: endGranule }, budget);
}

interface OggStream {
  readonly serial: number;
  /** Position after the last sample, in the codec's units; `null` if no page gives one. */
  readonly endGranule: number | null;
}

/**
 * Finds the Opus stream in an Ogg file that may hold others. A stream is whole without a mark of its end, since a
 * stopped recorder leaves none. Throws {@link AudioFormatError} if there is no such stream, several, or several in
 * sequence, and if the file is cut off, damaged or lacks a page.
 */
export function findOpus(bytes: Uint8Array, budget: DecodingBudget): OggStream {
  let serial: number | null = null;
  let sequence = 0;
  let isPacketOpen = false;
  let endGranule: number | null = null;
  let other: string | null = null;
  let hasBegun = false;
  for (let at = 0; at < bytes.length; ) {
    budget.chargeItems(1);
    const page = readOggPage(bytes, at);
    if (page.isFirst) {
      // The first pages of all streams precede any other page (RFC 3533, 4): this starts a new recording.
      if (hasBegun) throw several("it holds several recordings, one after the other");
      const codec = codecOf(bytes.subarray(page.body, page.end));
      if (codec !== "Opus") other ??= codec;
      else if (serial !== null) throw several("it holds several recordings at once");
      else ({ serial, sequence } = page);
    } else hasBegun = true;
    if (page.serial === serial) {
      checkOrder(page, at, sequence, isPacketOpen);
      sequence = (sequence + 1) >>> 0;
      if (page.granule !== null) endGranule = page.granule;
      if (page.sizes.length > 0) isPacketOpen = page.sizes.at(-1) === 255;
    }
    at = page.end;
  }
  if (serial === null) {
    throw new AudioFormatError(`it is Ogg with ${other ?? "no audio"}, and only Opus can be read in Ogg`);
  }
  if (isPacketOpen) throw new AudioFormatError("it is cut off in the middle of a packet");
  return { serial, endGranule };
}

/**
 * Yields the packets of a stream in a file that passed {@link findOpus}, except the second, which holds comments and
 * pictures. Throws {@link AudioFormatError} for one that is larger than Opus allows.
 */
export function* packetsOf(
  bytes: Uint8Array,
  serial: number,
  budget: DecodingBudget,
): Generator<Uint8Array, void, void> {
  // Parts of the current packet, one per page.
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  let index = 0;
  for (let at = 0; at < bytes.length; ) {
    const page = readOggPage(bytes, at, false);
    at = page.end;
    if (page.serial !== serial) continue;
    let from = page.body;
    let to = from;
    for (const [place, size] of page.sizes.entries()) {
      to += size;
      const isEnd = size < 255;
      if (!isEnd && place < page.sizes.length - 1) continue;
      const isWanted = index !== COMMENTS;
      if (isWanted && begunBytes + to - from > MAX_PACKET_BYTES) {
        throw new AudioFormatError(`packet ${index} of its Opus stream is larger than any`);
      }
      if (isWanted && to > from) {
        begun.push(bytes.subarray(from, to));
        begunBytes += to - from;
      }
      from = to;
      if (!isEnd) continue;
      budget.chargeItems(1);
      const [only = NOTHING] = begun;
      if (isWanted) yield begun.length <= 1 ? only : joinBytes(begun);
      index += 1;
      begun = [];
      begunBytes = 0;
    }
  }
}

const COMMENTS = 1;
const NOTHING = new Uint8Array(0);

/** Skips the head. */
function* audioPackets(packets: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  let isHead = true;
  for (const packet of packets) {
    if (!isHead) yield packet;
    isHead = false;
  }
}

/** Throws if pages are missing before this one. */
function checkOrder(page: OggPage, at: number, expected: number, isPacketOpen: boolean): void {
  const missing = page.sequence - expected;
  if (missing > 0) {
    throw new AudioFormatError(
      `it is damaged: ${missing === 1 ? "a page of Ogg is" : `${missing} pages of Ogg are`} missing before byte ${at}`,
    );
  }
  if (missing < 0)
    throw new AudioFormatError(`it is damaged: its pages of Ogg are out of order at byte ${at}`);
  if (page.isContinued !== isPacketOpen) {
    throw new AudioFormatError(
      `it is damaged: a packet is not whole at byte ${at}, where a page of Ogg begins`,
    );
  }
}

function several(problem: string): AudioFormatError {
  return new AudioFormatError(problem, "send each as a file of its own");
}

function codecOf(body: Uint8Array): string {
  const start = Buffer.from(body.subarray(0, 8)).toString("latin1");
  if (start === "OpusHead") return "Opus";
  if (start.startsWith("\u0001vorbis")) return "Vorbis";
  if (start.startsWith("\u007fFLAC")) return "FLAC";
  if (start.startsWith("Speex")) return "Speex";
  return "something that is no audio";
}

/** Ogg page (RFC 3533, 6). */
interface OggPage {
  readonly isFirst: boolean;
  /** Whether it begins with the rest of a packet. */
  readonly isContinued: boolean;
  /** Position after the last sample of the last packet that ends in it; `null` if none does. */
  readonly granule: number | null;
  readonly serial: number;
  /** Number among the pages of its stream. */
  readonly sequence: number;
  /** Segment sizes; one of 255 continues in the next. */
  readonly sizes: Uint8Array;
  readonly body: number;
  readonly end: number;
}

const HEADER_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

/**
 * Reads the page at `at`. Throws {@link AudioFormatError} if there is none, or it is cut off or damaged.
 *
 * @param isChecked whether to verify the checksum
 */
function readOggPage(bytes: Uint8Array, at: number, isChecked = true): OggPage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (at + HEADER_BYTES > bytes.length) throw cutOff(at);
  if (view.getUint32(at) !== 0x4f676753 || view.getUint8(at + 4) !== 0) {
    throw new AudioFormatError(`it is damaged at byte ${at}, where a page of Ogg should begin`);
  }
  const body = at + HEADER_BYTES + view.getUint8(at + 26);
  if (body > bytes.length) throw cutOff(at);
  const sizes = bytes.subarray(at + HEADER_BYTES, body);
  const end = sizes.reduce((sum, size) => sum + size, body);
  if (end > bytes.length) throw cutOff(at);
  if (isChecked && oggChecksum(bytes.subarray(at, end)) !== view.getUint32(at + OGG_CHECKSUM_AT, true)) {
    throw new AudioFormatError(`it is damaged: the page of Ogg at byte ${at} does not have its checksum`);
  }
  const flags = view.getUint8(at + 5);
  const granule = view.getBigUint64(at + 6, true);
  return {
    isFirst: (flags & FIRST) !== 0,
    isContinued: (flags & CONTINUED) !== 0,
    granule: granule === NO_GRANULE ? null : Number(granule),
    serial: view.getUint32(at + 14, true),
    sequence: view.getUint32(at + 18, true),
    sizes,
    body,
    end,
  };
}

function cutOff(at: number): AudioFormatError {
  return new AudioFormatError(`it is cut off in the page of Ogg at byte ${at}`);
}
