import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { readWavFormat } from "../../audio/wav-format.ts";

/** How the samples of a WAV that comes as a stream lie in it. */
interface WavHead {
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** Where the samples begin. */
  readonly bytes: number;
  /** How many bytes of samples there are; `null` where whoever writes them did not know yet. */
  readonly dataBytes: number | null;
}

/** Rates at which there is speech. */
export const RATES_HZ = { min: 8_000, max: 48_000 } as const;

/** A head that is longer holds pictures, or is none. */
const MAX_BYTES = 1 << 16;
/** Sizes from here on are no sizes: 0xFFFFFFFF, 0x7FFFFFFF and the like are what is written for an unknown one. */
const UNKNOWN_FROM = 0x7f00_0000;

/** Whether bytes begin as a WAV does, as far as they go. */
export function looksLikeWav(bytes: Uint8Array): boolean {
  return [...RIFF].every((byte, at) => at >= bytes.length || bytes[at] === byte);
}

const RIFF = Buffer.from("RIFF");

/**
 * Reads the head of a WAV of 16-bit samples, from its beginning; `null` where that needs more bytes. Chunks that it does
 * not know are passed over, and the size of the whole is not looked at.
 *
 * Throws {@link AudioFormatError} for what is no WAV, and for samples of another kind, of more than two channels or at a
 * rate beyond {@link RATES_HZ}.
 */
export function readWavHead(bytes: Uint8Array): WavHead | null {
  const file = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!looksLikeWav(bytes)) throw new AudioFormatError("it does not begin as a WAV does");
  if (bytes.length < 12) return null;
  if (fourCharacters(bytes, 8) !== "WAVE") throw new AudioFormatError("it is a RIFF file, and no WAV");
  let format: Pick<WavHead, "sampleRateHz" | "channels"> | null = null;
  for (let at = 12; ; ) {
    if (at > MAX_BYTES) throw new AudioFormatError("it has no samples in its first 64 KiB");
    if (at + 8 > bytes.length) return null;
    const id = fourCharacters(bytes, at);
    const size = file.getUint32(at + 4, true);
    const body = at + 8;
    if (id === "data") {
      if (format === null) throw new AudioFormatError('its "data" chunk comes before any "fmt " chunk');
      const isKnown = size > 0 && size < UNKNOWN_FROM;
      return { ...format, bytes: body, dataBytes: isKnown ? size : null };
    }
    if (id === "fmt ") {
      if (size > 1_024) throw new AudioFormatError('its "fmt " chunk is too long');
      if (body + size > bytes.length) return null;
      format = checkedFormat(new DataView(file.buffer, file.byteOffset + body, size));
    }
    at = body + size + (size % 2);
  }
}

function checkedFormat(chunk: DataView): Pick<WavHead, "sampleRateHz" | "channels"> {
  const { kind, channels, sampleRateHz } = readWavFormat(chunk, false);
  if (kind !== "s16") throw new AudioFormatError(`its samples are not of 16 bits (${kind})`);
  if (channels !== 1 && channels !== 2) {
    throw new AudioFormatError(`it has ${channels} channels, and one or two are taken`);
  }
  if (sampleRateHz < RATES_HZ.min || sampleRateHz > RATES_HZ.max) {
    throw new AudioFormatError(
      `its rate is ${sampleRateHz} Hz, and ${RATES_HZ.min} to ${RATES_HZ.max} Hz are taken`,
    );
  }
  return { channels, sampleRateHz };
}

function fourCharacters(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
