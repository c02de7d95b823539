import { type ByteSource, WeightsError } from "../../src/onnx/byte-source.ts";

/** A source of bytes in memory. */
export function inMemory(bytes: Uint8Array): ByteSource {
  const readSlice = (from: number, length: number): Uint8Array => {
    if (length < 0 || from < 0 || from + length > bytes.length)
      throw new WeightsError("The weights are cut short.");
    return new Uint8Array(bytes.subarray(from, from + length));
  };
  return {
    size: bytes.length,
    read: async (from, length) => readSlice(from, length),
    async readInto(room, from) {
      room.set(readSlice(from, room.length));
    },
    readSync: readSlice,
    async close() {},
  };
}
