import type { createEncoder } from "libopus-wasm";
import { OGG_CHECKSUM_AT, oggChecksum } from "../checksums.ts";
import { SAMPLE_RATE_HZ } from "../format.ts";
import { joinBytes } from "../pcm.ts";
import { vorbisComments } from "./chapters.ts";
import { type Encoder, utf8 } from "./encoder.ts";

const BITRATE_BPS = 64_000;
const COMPLEXITY = 10;

/** A packet is 20 ms; a page of four is one frame of speech. */
const PACKET_SAMPLES = SAMPLE_RATE_HZ / 50;
const PACKETS_A_PAGE = 4;
export const OPUS_PAGE_SAMPLES = PACKETS_A_PAGE * PACKET_SAMPLES;

/**
 * Samples that the codec adds before the beginning. Ogg counts Opus at 48 kHz, whatever the source's rate (RFC 7845).
 */
const LEAD_SAMPLES = 156;
const TICKS_A_SAMPLE = 48_000 / SAMPLE_RATE_HZ;

/**
 * Encodes Opus at 64 kb/s in Ogg (RFC 6716, RFC 7845) with libopus: exact to the sample, since the stream states what
 * to drop of its first and last packet. A page is ready every 80 ms.
 *
 * @param open creates a libopus
 * @param at samples of the same stream that were encoded before: whole pages
 */
export async function oggOpusEncoder(serial: number, open: typeof createEncoder, at = 0): Promise<Encoder> {
  const opus = await open({
    channels: 1,
    sampleRate: SAMPLE_RATE_HZ,
    bitrate: BITRATE_BPS,
    complexity: COMPLEXITY,
  });
  const pages = new OggPages(serial);
  const head = headPages(pages);
  pages.skip(at / OPUS_PAGE_SAMPLES);
  const block = new Int16Array(PACKET_SAMPLES);
  let filled = 0;
  let samples = at;
  let encoded = at;
  let packets: Uint8Array[] = [];
  let ready: Uint8Array[] = [];

  const take = (): Uint8Array => {
    const bytes = joinBytes(ready);
    ready = [];
    return bytes;
  };
  const closeFullPage = (): void => {
    if (packets.length < PACKETS_A_PAGE) return;
    ready.push(pages.page(packets, TICKS_A_SAMPLE * encoded));
    packets = [];
  };
  const encodeBlock = (): void => {
    closeFullPage();
    packets.push(opus.encode(block));
    encoded += PACKET_SAMPLES;
    filled = 0;
  };
  const add = (pcm: Int16Array): void => {
    for (let from = 0; from < pcm.length; ) {
      const part = pcm.subarray(from, from + PACKET_SAMPLES - filled);
      block.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled === PACKET_SAMPLES) encodeBlock();
    }
  };
  return {
    head: () => head,
    push(pcm) {
      samples += pcm.length;
      add(pcm);
      closeFullPage();
      return take();
    },
    end() {
      const wanted = samples + LEAD_SAMPLES;
      while (encoded < wanted) {
        block.fill(0, filled);
        encodeBlock();
      }
      ready.push(pages.page(packets, TICKS_A_SAMPLE * wanted, { isLast: true }));
      return take();
    },
    finishedHead: () => head,
    free: () => opus.free(),
  };
}

/** Returns the beginning of such a file. @param comments `NAME=value` */
export function oggOpusHead(serial: number, comments: readonly string[] = []): Uint8Array {
  return headPages(new OggPages(serial), comments);
}

function headPages(pages: OggPages, comments: readonly string[] = []): Uint8Array {
  // RFC 7845, 5.2.
  const tags = joinBytes([utf8("OpusTags"), vorbisComments(comments)]);
  return joinBytes([pages.page([OPUS_HEAD], 0), pages.page([tags], 0)]);
}

/** RFC 7845, 5.1: version 1, one channel, pre-skip, the source's rate, no gain, no mapping. */
const OPUS_HEAD = opusHead();

function opusHead(): Uint8Array {
  const packet = new Uint8Array(19);
  const view = new DataView(packet.buffer);
  packet.set(utf8("OpusHead"));
  view.setUint8(8, 1);
  view.setUint8(9, 1);
  view.setUint16(10, TICKS_A_SAMPLE * LEAD_SAMPLES, true);
  view.setUint32(12, SAMPLE_RATE_HZ, true);
  return packet;
}

/** Packs packets into Ogg pages (RFC 3533). Every page ends with a whole packet. */
class OggPages {
  readonly #serial: number;
  #sequence = 0;

  /** @param serial 32 bits that name the stream */
  constructor(serial: number) {
    this.#serial = serial;
  }

  /** Skips numbers of pages that were written before. */
  skip(pages: number): void {
    this.#sequence += pages;
  }

  /**
   * @param granule position after the page's last sample, in the codec's units; packets may have 255 segments of 255
   * bytes in all
   */
  page(packets: readonly Uint8Array[], granule: number, { isLast = false } = {}): Uint8Array {
    const sizes = packets.flatMap(({ length }) => [
      ...new Array<number>(Math.floor(length / 255)).fill(255),
      length % 255,
    ]);
    if (sizes.length > 255) throw new RangeError(`${sizes.length} pieces are too many for a page of Ogg.`);
    const bodyBytes = packets.reduce((sum, { length }) => sum + length, 0);
    const page = new Uint8Array(HEADER_BYTES + sizes.length + bodyBytes);
    const view = new DataView(page.buffer);
    view.setUint32(0, CAPTURE);
    view.setUint8(5, (this.#sequence === 0 ? FIRST : 0) | (isLast ? LAST : 0));
    view.setBigUint64(6, BigInt(granule), true);
    view.setUint32(14, this.#serial, true);
    view.setUint32(18, this.#sequence++, true);
    view.setUint8(26, sizes.length);
    page.set(sizes, HEADER_BYTES);
    let at = HEADER_BYTES + sizes.length;
    for (const packet of packets) {
      page.set(packet, at);
      at += packet.length;
    }
    view.setUint32(OGG_CHECKSUM_AT, oggChecksum(page), true);
    return page;
  }
}

const HEADER_BYTES = 27;
const CAPTURE = 0x4f676753;
const FIRST = 2;
const LAST = 4;
