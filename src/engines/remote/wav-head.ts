import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { readWavHead as readAnyWavHead } from "../../audio/decode-wav.ts";

/** Layout of the samples in a WAV stream. */
interface WavHead {
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** Byte offset of the first sample. */
  readonly bytes: number;
  /** Declared bytes of samples; `null` if the writer did not know. */
  readonly dataBytes: number | null;
}

/** Sample rates accepted for speech. */
export const RATES_HZ = { min: 8_000, max: 48_000 } as const;

/** Whether the bytes received so far begin as a WAV does. */
export function looksLikeWav(bytes: Uint8Array): boolean {
  return [...RIFF].every((byte, at) => at >= bytes.length || bytes[at] === byte);
}

const RIFF = Buffer.from("RIFF");

/**
 * Reads the head of a WAV of 16-bit samples; `null` if it takes more bytes. Throws {@link AudioFormatError} for anything
 * but a WAV, for other samples, more than two channels and a rate outside {@link RATES_HZ}.
 */
export function readWavHead(bytes: Uint8Array): WavHead | null {
  const head = readAnyWavHead(bytes);
  if (head === null) return null;
  const { kind, channels, sampleRateHz } = head.format;
  if (kind !== "s16") throw new AudioFormatError(`its samples are not of 16 bits (${kind})`);
  if (channels !== 1 && channels !== 2) {
    throw new AudioFormatError(`it has ${channels} channels, and one or two are taken`);
  }
  if (sampleRateHz < RATES_HZ.min || sampleRateHz > RATES_HZ.max) {
    throw new AudioFormatError(
      `its rate is ${sampleRateHz} Hz, and ${RATES_HZ.min} to ${RATES_HZ.max} Hz are taken`,
    );
  }
  return { channels, sampleRateHz, bytes: head.dataStart, dataBytes: head.dataBytes };
}
