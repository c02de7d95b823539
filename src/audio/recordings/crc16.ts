const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ ((value & 0x8000) === 0 ? 0 : 0x8005);
  return value;
});

/** The checksum of a frame of FLAC: CRC-16 with the polynomial 0x8005. Over a frame with its checksum it is 0. */
export function crc16(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) value = ((value << 8) & 0xffff) ^ TABLE[(value >> 8) ^ byte]!;
  return value;
}
