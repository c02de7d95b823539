import { AudioFormatError } from "../audio-format-error.ts";
import { decodeOpus, readOpusHead } from "./decode-opus.ts";
import type { Recording } from "./recording.ts";

/** Decodes Opus in Ogg (RFC 3533, RFC 7845). Throws as `decodeRecording` does. */
export async function decodeOgg(bytes: Uint8Array, mostS: number): Promise<Recording> {
  const { packets, endGranule } = readOgg(bytes);
  const [head, , ...audio] = packets;
  if (head === undefined) throw new AudioFormatError("it has no packets");
  return decodeOpus(readOpusHead(head), audio, endGranule, mostS);
}

/** The packets of one logical stream. */
export interface OggStream {
  readonly packets: readonly Uint8Array[];
  /** The position after its last sample, as its codec counts; `null` where no page says. */
  readonly endGranule: number | null;
}

const PAGE_HEADER_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

/**
 * Takes the first stream of Opus out of an Ogg file. Throws {@link AudioFormatError} where there is none, or the file is
 * cut off or damaged.
 */
export function readOgg(bytes: Uint8Array): OggStream {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: Uint8Array[] = [];
  let serial: number | null = null;
  let open: Uint8Array[] = [];
  let endGranule: number | null = null;
  let other: string | null = null;
  for (let at = 0; at < bytes.length; ) {
    const page = readPage(view, at);
    at = page.end;
    if (page.isFirst) {
      const codec = codecOf(bytes.subarray(page.body, page.end));
      if (codec === "Opus") {
        if (serial !== null) throw new AudioFormatError("it holds several recordings: send one");
        serial = page.serial;
      } else other ??= codec;
    }
    if (page.serial !== serial) continue;
    if (!page.isContinued) open = [];
    if (page.granule !== NO_GRANULE) endGranule = Number(page.granule);
    let from = page.body;
    for (const size of page.sizes) {
      open.push(bytes.subarray(from, from + size));
      from += size;
      if (size === 255) continue;
      packets.push(open.length === 1 ? open[0]! : joined(open));
      open = [];
    }
  }
  if (serial === null) {
    throw new AudioFormatError(`it is Ogg with ${other ?? "no audio"}, and only Opus can be read in Ogg`);
  }
  if (open.length > 0) throw new AudioFormatError("it is cut off in the middle of a packet");
  return { packets, endGranule };
}

interface Page {
  readonly isFirst: boolean;
  readonly isContinued: boolean;
  readonly granule: bigint;
  readonly serial: number;
  /** Of its pieces; one of 255 goes on with the next. */
  readonly sizes: Uint8Array;
  readonly body: number;
  readonly end: number;
}

function readPage(view: DataView, at: number): Page {
  if (at + PAGE_HEADER_BYTES > view.byteLength) throw cutOff(at);
  if (view.getUint32(at) !== 0x4f676753 || view.getUint8(at + 4) !== 0) {
    throw new AudioFormatError(`it is damaged at byte ${at}, where a page of Ogg should begin`);
  }
  const flags = view.getUint8(at + 5);
  const count = view.getUint8(at + 26);
  const body = at + PAGE_HEADER_BYTES + count;
  if (body > view.byteLength) throw cutOff(at);
  const sizes = new Uint8Array(view.buffer, view.byteOffset + at + PAGE_HEADER_BYTES, count);
  const end = sizes.reduce((sum, size) => sum + size, body);
  if (end > view.byteLength) throw cutOff(at);
  return {
    isFirst: (flags & FIRST) !== 0,
    isContinued: (flags & CONTINUED) !== 0,
    granule: view.getBigUint64(at + 6, true),
    serial: view.getUint32(at + 14, true),
    sizes,
    body,
    end,
  };
}

function cutOff(at: number): AudioFormatError {
  return new AudioFormatError(`it is cut off in the page of Ogg at byte ${at}`);
}

function codecOf(body: Uint8Array): string {
  const start = Buffer.from(body.subarray(0, 8)).toString("latin1");
  if (start === "OpusHead") return "Opus";
  if (start.startsWith("\u0001vorbis")) return "Vorbis";
  if (start.startsWith("\u007fFLAC")) return "FLAC";
  if (start.startsWith("Speex")) return "Speex";
  return "something that is no audio";
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
