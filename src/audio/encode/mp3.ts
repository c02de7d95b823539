import type { WasmMediaEncoder } from "wasm-media-encoders";
import { crc16Reflected } from "../checksums.ts";
import { SAMPLE_RATE_HZ } from "../format.ts";
import { fromPcm16 } from "../pcm.ts";
import { type Encoder, NOTHING, utf8 } from "./encoder.ts";

/** Constant, so that players know the length without an index; 160 is the maximum at 24 kHz. */
const BITRATE_KBPS = 128;

const FRAME_BYTES = 384;
const FRAME_SAMPLES = 576;
/** Samples of silence that LAME adds before the beginning; a decoder adds 529. */
const DELAY_SAMPLES = 576;
/** Frames that `end` adds to flush the encoder. */
const END_FRAMES = 2;

/** Idle encoders kept: each takes half a megabyte, and creating one costs 2 ms. */
const MAX_IDLE = 8;

export type Lame = WasmMediaEncoder<"audio/mpeg">;

const idle: Lame[] = [];

/**
 * Encodes MPEG-2 layer III at 128 kb/s with LAME. The sound begins 1105 samples (46 ms) late, as in every MP3, and 86
 * to 102 ms of it are buffered.
 *
 * @param open creates a LAME if none is idle
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
    // LAME returns views into its memory.
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

/** Returns the loudness to give samples so that their MP3 has this one: LAME scales its input by 0.95. */
export function beforeMp3(lufs: number): number {
  return lufs - 20 * Math.log10(0.95);
}

/** A segment's length is a multiple of this. */
export const MP3_STEP_SAMPLES = FRAME_SAMPLES;

/**
 * Encodes a segment of an MP3: as many frames as it has samples for. The last 46 ms of its sound are lost.
 *
 * @param encoder unused so far
 */
export function mp3Segment(encoder: Encoder): Pick<Encoder, "push" | "end" | "free"> {
  let samples = 0;
  let bytes = 0;
  return {
    push(pcm) {
      const given = encoder.push(pcm);
      samples += pcm.length;
      bytes += given.length;
      return given;
    },
    end: () => encoder.end().subarray(0, (samples / FRAME_SAMPLES) * FRAME_BYTES - bytes),
    free: () => encoder.free(),
  };
}

/** Offset of the info tag in a frame of one channel, after header and side information (ISO 13818-3, 2.4.1.7). */
const INFO_AT = 13;
const [HAS_FRAMES, HAS_BYTES] = [1, 2];
const CONSTANT_BITRATE = 1;

/**
 * Returns the first frame of an MP3, with its length and the silence before and after its sound, which players then
 * skip: Xing's `Info` with LAME's extension (gabriel.mp3-tech.org/mp3infotag.html, revision 1).
 *
 * @param length of the file as encoded, including this frame; null if unknown
 */
export function mp3Info(length: { readonly samples: number; readonly bytes: number } | null): Uint8Array {
  const frame = new Uint8Array(FRAME_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, FRAME_HEAD);
  frame.set(utf8("Info"), INFO_AT);
  // The length field has 32 bits: beyond it (74 hours) the length is omitted.
  const size = length !== null && length.bytes <= 0xffff_ffff ? length : null;
  const lameAt = INFO_AT + (size === null ? 8 : 16);
  if (size !== null) {
    view.setUint32(INFO_AT + 4, HAS_FRAMES | HAS_BYTES);
    view.setUint32(INFO_AT + 8, size.samples / FRAME_SAMPLES + END_FRAMES);
    view.setUint32(INFO_AT + 12, size.bytes);
    view.setUint32(lameAt + 28, size.bytes);
  }
  frame.set(utf8("LAME3.100"), lameAt);
  frame[lameAt + 9] = CONSTANT_BITRATE;
  const padding = END_FRAMES * FRAME_SAMPLES - DELAY_SAMPLES;
  view.setUint32(lameAt + 20, (BITRATE_KBPS << 24) | (DELAY_SAMPLES << 12) | padding);
  view.setUint16(lameAt + 34, crc16Reflected(frame.subarray(0, lameAt + 34)));
  return frame;
}

/** MPEG-2 layer III at 128 kb/s and 24 kHz, one channel, no checksum. */
const FRAME_HEAD = 0xfff3c4c4;
