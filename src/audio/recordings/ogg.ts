import { AudioFormatError } from "../audio-format-error.ts";
import { joinedBytes } from "../joined.ts";
import { decodeOpus, readOpusHead } from "./decode-opus.ts";
import { type OggPage, readOggPage } from "./ogg-page.ts";
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

/**
 * Takes the stream of Opus out of an Ogg file, beside which others may lie. A recorder that was stopped leaves no mark of
 * the end: a stream is whole without one. Throws {@link AudioFormatError} where there is none, several, or one after the
 * other, and where the file is cut off or damaged or a page is missing.
 */
export function readOgg(bytes: Uint8Array): OggStream {
  const packets: Uint8Array[] = [];
  let serial: number | null = null;
  let sequence = 0;
  let open: Uint8Array[] = [];
  let endGranule: number | null = null;
  let other: string | null = null;
  let hasBegun = false;
  for (let at = 0; at < bytes.length; ) {
    const page = readOggPage(bytes, at);
    if (page.isFirst) {
      // The first pages of all streams come before any other page (RFC 3533, 4): what follows here begins anew.
      if (hasBegun) throw several("it holds several recordings, one after the other");
      const codec = codecOf(bytes.subarray(page.body, page.end));
      if (codec !== "Opus") other ??= codec;
      else if (serial !== null) throw several("it holds several recordings at once");
      else ({ serial, sequence } = page);
    } else hasBegun = true;
    if (page.serial === serial) {
      checkOrder(page, at, sequence, open.length > 0);
      sequence = (sequence + 1) >>> 0;
      if (page.granule !== null) endGranule = page.granule;
      let from = page.body;
      for (const size of page.sizes) {
        open.push(bytes.subarray(from, from + size));
        from += size;
        if (size === 255) continue;
        packets.push(open.length === 1 ? open[0]! : joinedBytes(open));
        open = [];
      }
    }
    at = page.end;
  }
  if (serial === null) {
    throw new AudioFormatError(`it is Ogg with ${other ?? "no audio"}, and only Opus can be read in Ogg`);
  }
  if (open.length > 0) throw new AudioFormatError("it is cut off in the middle of a packet");
  return { packets, endGranule };
}

/** Throws where pages are missing before this one. */
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
