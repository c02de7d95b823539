import { oggChecksum } from "../recordings/ogg-page.ts";

/**
 * Puts packets into pages of Ogg (RFC 3533): every page ends with a whole packet, so that none goes on in the next.
 */
export class OggPages {
  readonly #serial: number;
  #sequence = 0;

  /** @param serial 32 bits that name the stream */
  constructor(serial: number) {
    this.#serial = serial;
  }

  /** @param granule the position after the page's last sample, as the codec counts; packets may have 255 pieces of 255 bytes in all */
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
    view.setUint32(22, oggChecksum(page), true);
    return page;
  }
}

const HEADER_BYTES = 27;
const CAPTURE = 0x4f676753;
const FIRST = 2;
const LAST = 4;
