import { SAMPLE_RATE_HZ } from "../format.ts";
import { pcm16Bytes } from "../pcm.ts";
import { openWavHeader, wavHeader } from "../wav-write.ts";
import { type Encoder, NOTHING } from "./encoder.ts";

/** The samples themselves, 16-bit little-endian. */
export function pcmEncoder(): Encoder {
  return { ...wavEncoder(), head: () => NOTHING, finishedHead: () => NOTHING };
}

/** The samples behind a WAV header. */
export function wavEncoder(): Encoder {
  let bytes = 0;
  return {
    head: () => openWavHeader(SAMPLE_RATE_HZ),
    push(pcm) {
      bytes += pcm.byteLength;
      return pcm16Bytes(pcm).slice();
    },
    end: () => NOTHING,
    finishedHead: () => wavHeader(bytes, SAMPLE_RATE_HZ),
    free: () => {},
  };
}
