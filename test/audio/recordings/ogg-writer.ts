import { oggChecksum } from "../../../src/audio/checksums.ts";

/** An Opus header: mono, pre-skip of 312 samples. */
export const OPUS_HEAD = Uint8Array.of(...Buffer.from("OpusHead"), 1, 1, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0);

/** Ogg pages of `piecesPerPage` lacing values each, without an end mark. */
export function oggPages(
  all: readonly Uint8Array[],
  piecesPerPage: number,
  serial = 7,
  granuleAt: (before: number, end: number) => number = (before) => 1_000 + before,
): Buffer[] {
  const sizes: number[] = [];
  for (const { length } of all) {
    for (let whole = Math.floor(length / 255); whole > 0; whole -= 1) sizes.push(255);
    sizes.push(length % 255);
  }
  const bytes = Buffer.concat(all);
  const pages: Buffer[] = [];
  let at = 0;
  for (let first = 0; first < sizes.length; first += piecesPerPage) {
    const own = sizes.slice(first, first + piecesPerPage);
    const size = own.reduce((sum, piece) => sum + piece, 0);
    const header = Buffer.alloc(27);
    header.write("OggS");
    header[5] = (first === 0 ? 2 : 0) | (first > 0 && sizes[first - 1] === 255 ? 1 : 0);
    header.writeBigUInt64LE(BigInt(granuleAt(first, first + own.length)), 6);
    header.writeUInt32LE(serial, 14);
    header.writeUInt32LE(pages.length, 18);
    header[26] = own.length;
    pages.push(signed(Buffer.concat([header, Buffer.from(own), bytes.subarray(at, at + size)])));
    at += size;
  }
  return pages;
}

export function ogg(all: readonly Uint8Array[], piecesPerPage: number, serial = 7): Buffer {
  return Buffer.concat(oggPages(all, piecesPerPage, serial));
}

/** Sets a page's checksum. */
export function signed(page: Buffer): Buffer {
  page.writeUInt32LE(oggChecksum(page), 22);
  return page;
}

/** Splits a file into pages, without an incomplete last one. */
export function pagesOf(file: Uint8Array): Buffer[] {
  const pages: Buffer[] = [];
  for (let at = 0; at + 27 <= file.length; ) {
    const body = at + 27 + file[at + 26]!;
    const end = file.subarray(at + 27, body).reduce((sum, size) => sum + size, body);
    if (end > file.length) break;
    pages.push(Buffer.from(file.subarray(at, end)));
    at = end;
  }
  return pages;
}

/** Returns the packets of a stream whose pages end with whole packets, headers included. */
export function packetsOf(file: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = [];
  for (const page of pagesOf(file)) {
    const body = 27 + page[26]!;
    let [from, at] = [body, body];
    for (const size of page.subarray(27, body)) {
      at += size;
      if (size === 255) continue;
      packets.push(page.subarray(from, at));
      from = at;
    }
  }
  return packets;
}
