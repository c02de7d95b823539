import { setImmediate as turn } from "node:timers/promises";
import { wavHeader } from "../audio/encode-wav.ts";
import { pcm16Bytes, toPcm16 } from "../audio/pcm.ts";
import { SampleSink } from "../audio/recordings/sample-sink.ts";
import type { AudioSource } from "../core/audio-source.ts";

const RATE_HZ = 16_000;
/** Minimum seconds of a file: some endpoints refuse less, so shorter sounds are padded with silence. */
const MIN_S = 0.1;
/** Seconds of sound converted at a time, in a few milliseconds, before other work gets a turn. */
const PIECE_S = 10;

/** Memory that {@link soundAsWav} takes for a second of sound: its bytes, and once more while they become a file. */
export const HELD_BYTES_PER_S = 2 * 2 * RATE_HZ;

/** A sound as a WAV file of 16 kHz and 16 bits. */
interface SoundWav {
  readonly file: Blob;
  /** Seconds of the sound, without padding. */
  readonly durationS: number;
}

/** Reads a sound to its end. Throws the signal's reason when that aborts, and what reading throws. */
export async function soundAsWav(sound: AudioSource, signal: AbortSignal): Promise<SoundWav> {
  const { sampleRateHz } = sound;
  const sink = new SampleSink(sampleRateHz, RATE_HZ);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let samples = 0;
  let dataBytes = 0;
  const add = (channel: Float32Array): void => {
    sink.add({ channels: [channel], from: 0, to: channel.length, scale: 1 });
  };
  const keep = (): void => {
    const piece = pcm16Bytes(toPcm16(sink.take(sink.available))) as Uint8Array<ArrayBuffer>;
    pieces.push(piece);
    dataBytes += piece.length;
  };
  for (;;) {
    const read = await sound.read(PIECE_S * sampleRateHz, signal);
    if (read.length === 0) break;
    samples += read.length;
    add(read);
    keep();
    await turn();
    signal.throwIfAborted();
  }
  const missing = Math.ceil(MIN_S * sampleRateHz) - samples;
  if (missing > 0) add(new Float32Array(missing));
  sink.end();
  keep();
  const header = wavHeader(dataBytes, RATE_HZ);
  return { file: new Blob([header, ...pieces], { type: "audio/wav" }), durationS: samples / sampleRateHz };
}
