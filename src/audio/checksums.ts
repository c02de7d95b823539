/** CRC-8 with the polynomial 0x07, of the header of a FLAC frame (RFC 9639, 9.1.8). */
export function crc8(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = ((value << 1) ^ (value & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return value;
}

const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ ((value & 0x8000) === 0 ? 0 : 0x8005);
  return value;
});

/** CRC-16 with the polynomial 0x8005, of a FLAC frame. Over a frame including its checksum it is 0. */
export function crc16(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) value = ((value << 8) & 0xffff) ^ CRC16[(value >> 8) ^ byte]!;
  return value;
}

/** CRC-16/ARC: the same polynomial, least significant bit first. It ends the tag that LAME writes into an MP3. */
export function crc16Reflected(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >> 1) ^ (value & 1 ? 0xa001 : 0);
  }
  return value;
}

const CRC32 = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value;
});

/** Byte offset of the checksum in an Ogg page. */
export const OGG_CHECKSUM_AT = 22;

/** CRC-32 with the polynomial 0x04c11db7, of an Ogg page whose four checksum bytes count as 0. */
export function oggChecksum(page: Uint8Array): number {
  let value = 0;
  for (let at = 0; at < page.length; at += 1) {
    const byte = at >= OGG_CHECKSUM_AT && at < OGG_CHECKSUM_AT + 4 ? 0 : page[at]!;
    value = (value << 8) ^ CRC32[(value >>> 24) ^ byte]!;
  }
  return value >>> 0;
}
