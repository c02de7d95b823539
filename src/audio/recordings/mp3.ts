import { MPEGDecoder } from "mpg123-decoder";
import { AudioFormatError } from "../audio-format-error.ts";
import type { Recording } from "./recording.ts";
import { SampleSink } from "./sample-sink.ts";

/** So much is decoded at once; at the lowest rates of all it is a minute. */
const PIECE_BYTES = 16 * 1024;

/** Decodes MPEG audio, layer III. What is no frame is passed over, as players do. Throws as `decodeRecording` does. */
export async function decodeMp3(bytes: Uint8Array, mostS: number): Promise<Recording> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    let sink: SampleSink | null = null;
    let rateHz = 0;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const { channelData, samplesDecoded, sampleRate } = decoder.decode(
        bytes.subarray(at, at + PIECE_BYTES),
      );
      if (samplesDecoded === 0) continue;
      sink ??= new SampleSink(sampleRate, mostS);
      rateHz ||= sampleRate;
      if (sampleRate !== rateHz) {
        throw new AudioFormatError(`its sample rate changes from ${rateHz} to ${sampleRate} Hz`);
      }
      sink.add(channelData, 0, samplesDecoded);
    }
    if (sink === null) throw new AudioFormatError("it has no frames of MP3");
    return sink.finish();
  } finally {
    decoder.free();
  }
}
