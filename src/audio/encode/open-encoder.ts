import { alaw, mulaw } from "./companding.ts";
import type { Encoder, Encoding, PcmRate } from "./encoder.ts";
import { flacEncoder } from "./flac.ts";
import { mp3Encoder } from "./mp3.ts";
import { oggOpusEncoder } from "./ogg-opus.ts";
import { pcmEncoder, wavEncoder } from "./pcm-encoder.ts";
import { resampledPcmEncoder } from "./resampled-pcm.ts";
import { telephoneEncoder } from "./telephone.ts";

/**
 * Opens an encoder.
 *
 * @param serial a whole number that names the stream where its container asks for one (Ogg); of it 32 bits count
 */
export async function openEncoder(encoding: Encoding, serial = 0): Promise<Encoder> {
  switch (encoding) {
    case "mp3":
      return mp3Encoder();
    case "opus":
      return oggOpusEncoder(serial >>> 0);
    case "flac":
      return flacEncoder();
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
