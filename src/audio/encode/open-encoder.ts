import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createEncoder as createOpus } from "libopus-wasm";
import { alaw, mulaw } from "../pcm-format.ts";
import type { Encoder, Encoding, PcmRate } from "./encoder.ts";
import { flacEncoder } from "./flac.ts";
import { type Lame, mp3Encoder } from "./mp3.ts";
import { oggOpusEncoder } from "./ogg-opus.ts";
import { pcmEncoder, resampledPcmEncoder, telephoneEncoder, wavEncoder } from "./pcm-encoder.ts";

/**
 * Opens an encoder.
 *
 * @param serial integer that names the stream where the container needs one (Ogg); its lowest 32 bits count
 * @param at samples of the same Opus stream that were encoded before
 */
export async function openEncoder(encoding: Encoding, serial = 0, at = 0): Promise<Encoder> {
  switch (encoding) {
    case "mp3":
      return mp3Encoder(openLame);
    case "opus":
      return oggOpusEncoder(serial >>> 0, createOpus, at);
    case "flac":
      return flacEncoder(createHash("md5"));
    case "wav":
      return wavEncoder();
    case "pcm":
      return pcmEncoder();
    case "mulaw":
      return telephoneEncoder(mulaw);
    case "alaw":
      return telephoneEncoder(alaw);
    default:
      return resampledPcmEncoder(Number(encoding.slice("pcm_".length)) as PcmRate);
  }
}

let code: Promise<Uint8Array> | null = null;

/** LAME stays a file of its own, so that users can replace it by their own build. */
async function openLame(): Promise<Lame> {
  const { createEncoder } = await import("wasm-media-encoders");
  code ??= readFile(new URL(import.meta.resolve("wasm-media-encoders/wasm/mp3")));
  return createEncoder("audio/mpeg", await code);
}
