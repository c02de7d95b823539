import { readFile } from "node:fs/promises";
import { createEncoder } from "wasm-media-encoders";

/** So much is encoded at once. */
const PIECE = 100 * 1_152;

/** MP3 of 128 kb/s, of one channel or two, at one of its rates. */
export async function mp3Of(channels: readonly Float32Array[], rateHz: number): Promise<Uint8Array> {
  const code = await readFile(new URL(import.meta.resolve("wasm-media-encoders/wasm/mp3")));
  const lame = await createEncoder("audio/mpeg", code);
  lame.configure({
    channels: channels.length as 1 | 2,
    sampleRate: rateHz as Parameters<typeof lame.configure>[0]["sampleRate"],
    bitrate: 128,
  });
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < channels[0]!.length; at += PIECE) {
    // What it gives are views into its memory.
    pieces.push(lame.encode(channels.map((channel) => channel.slice(at, at + PIECE))).slice());
  }
  pieces.push(lame.finalize().slice());
  return Buffer.concat(pieces);
}
