import type { WasmMediaEncoder } from "wasm-media-encoders";
import { SAMPLE_RATE_HZ } from "../format.ts";
import { fromPcm16 } from "../pcm.ts";
import { type Encoder, NOTHING } from "./encoder.ts";

/** Constant, so that players know the length without an index; nothing above 160 exists at 24 kHz. */
const BITRATE_KBPS = 128;

/** So many encoders that nobody uses are kept: each holds half a megabyte, and making one costs 2 ms. */
const MAX_IDLE = 8;

export type Lame = WasmMediaEncoder<"audio/mpeg">;

const idle: Lame[] = [];

/**
 * MPEG-2 layer III at 128 kb/s, by LAME. Its sound begins 1105 samples (46 ms) late, as every MP3's does, and 86 to 102
 * ms of it are held back.
 *
 * @param open makes a LAME, where none is idle
 */
export async function mp3Encoder(open: () => Promise<Lame>): Promise<Encoder> {
  const lame = idle.pop() ?? (await open());
  let isFree = false;
  const live = (): Lame => {
    if (isFree) throw new Error("this MP3 encoder was freed");
    return lame;
  };
  lame.configure({ channels: 1, sampleRate: SAMPLE_RATE_HZ, bitrate: BITRATE_KBPS });
  return {
    head: () => NOTHING,
    // What LAME gives are views into its memory.
    push: (pcm) =>
      live()
        .encode([fromPcm16(pcm)])
        .slice(),
    end: () => live().finalize().slice(),
    finishedHead: () => NOTHING,
    free() {
      if (!isFree && idle.length < MAX_IDLE) idle.push(lame);
      isFree = true;
    },
  };
}
