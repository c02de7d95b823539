import { AudioFormatError } from "../audio-format-error.ts";
import { OGG_CHECKSUM_AT, oggChecksum } from "../checksums.ts";

/** A page of Ogg (RFC 3533, 6). */
export interface OggPage {
  readonly isFirst: boolean;
  /** It begins with the rest of a packet. */
  readonly isContinued: boolean;
  /** The position after the last sample of the last packet that ends in it; `null` where none does. */
  readonly granule: number | null;
  readonly serial: number;
  /** Its place among the pages of its stream. */
  readonly sequence: number;
  /** Of its pieces; one of 255 goes on with the next. */
  readonly sizes: Uint8Array;
  readonly body: number;
  readonly end: number;
}

const HEADER_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

/**
 * Reads the page that begins at `at`. Throws {@link AudioFormatError} where none does, or it is cut off or damaged.
 *
 * @param isChecked whether its checksum is looked at
 */
export function readOggPage(bytes: Uint8Array, at: number, isChecked = true): OggPage {
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
