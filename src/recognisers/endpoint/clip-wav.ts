import { setImmediate as turn } from "node:timers/promises";
import { toPcm16 } from "../../audio/pcm.ts";
import { SampleSink } from "../../audio/recordings/sample-sink.ts";
import { encodeWav } from "../../audio/wav-write.ts";
import type { Clip } from "../../model/conversation.ts";

const RATE_HZ = 16_000;
/** Some endpoints refuse what is shorter; silence makes up for it. */
const LEAST_S = 0.1;
/** So much is converted at once, in a few milliseconds; then others have their turn. */
const PIECE_S = 10;

/** A clip as a WAV file of 16 kHz and 16 bits. Throws the signal's reason when that aborts. */
export async function clipAsWav({ samples, sampleRateHz }: Clip, signal: AbortSignal): Promise<Blob> {
  const sink = new SampleSink(sampleRateHz, Number.POSITIVE_INFINITY, RATE_HZ);
  const step = PIECE_S * sampleRateHz;
  for (let at = 0; at < samples.length; at += step) {
    sink.add([samples], at, Math.min(samples.length, at + step));
    await turn();
    signal.throwIfAborted();
  }
  const missing = Math.ceil(LEAST_S * sampleRateHz) - samples.length;
  if (missing > 0) sink.add([new Float32Array(missing)]);
  const { samples: converted } = sink.finish();
  const pieces: Int16Array[] = [];
  for (let at = 0; at < converted.length; at += PIECE_S * RATE_HZ) {
    pieces.push(toPcm16(converted.subarray(at, at + PIECE_S * RATE_HZ)));
    await turn();
    signal.throwIfAborted();
  }
  return new Blob([encodeWav(pieces, RATE_HZ) as Uint8Array<ArrayBuffer>], { type: "audio/wav" });
}
