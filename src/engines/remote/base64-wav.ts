import { setImmediate as turn } from "node:timers/promises";
import { wavHeader } from "../../audio/encode-wav.ts";
import { pcm16Bytes } from "../../audio/pcm.ts";
import type { Clip } from "../../core/conversation.ts";

/** Together with the head a multiple of 3 bytes, as base64 needs it of every piece but the last. */
const FIRST_SAMPLES = 2;
/** A multiple of 3, which takes less than a millisecond. */
const PIECE_SAMPLES = 48_000;

/**
 * A clip as a WAV of 16 bits at its own rate, in base64, in pieces; samples that were read from 16 bits are the same
 * again. Others have their turn between two pieces. Throws the signal's reason when that aborts.
 */
export async function base64Wav({ samples, sampleRateHz }: Clip, signal: AbortSignal): Promise<Buffer[]> {
  const first = samples.subarray(0, FIRST_SAMPLES);
  const head = Buffer.concat([wavHeader(2 * samples.length, sampleRateHz), bytesOf(first)]);
  const pieces = [asText(head)];
  for (let at = FIRST_SAMPLES; at < samples.length; at += PIECE_SAMPLES) {
    pieces.push(asText(bytesOf(samples.subarray(at, at + PIECE_SAMPLES))));
    await turn();
    signal.throwIfAborted();
  }
  return pieces;
}

function bytesOf(samples: Float32Array): Uint8Array {
  const pcm = new Int16Array(samples.length);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = Math.min(32_767, Math.round(samples[at]! * 32_768));
  return pcm16Bytes(pcm);
}

function asText(bytes: Uint8Array): Buffer {
  return Buffer.from(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
    "latin1",
  );
}
