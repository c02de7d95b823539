import { AudioFormatError } from "./audio-format-error.ts";
import { frameBytes, type PcmFormat, type SampleKind } from "./pcm-format.ts";

const MIN_RATE_HZ = 1_000;
const MAX_RATE_HZ = 768_000;

/**
 * Reads the body of a `fmt ` chunk (Microsoft, "Multiple channel audio data and WAVE files", 2007): PCM, IEEE float, or
 * the A-law and µ-law of telephones, each also as WAVE_FORMAT_EXTENSIBLE. The nominal byte rate is not looked at: nothing depends on it.
 *
 * Throws {@link AudioFormatError} for other encodings and for numbers that contradict each other.
 *
 * @param isTelephoneRead whether A-law and µ-law are
 */
export function readWavFormat(chunk: DataView, isTelephoneRead: boolean): PcmFormat {
  if (chunk.byteLength < 16) {
    throw new AudioFormatError(`its "fmt " chunk has ${chunk.byteLength} bytes where at least 16 are needed`);
  }
  const channels = chunk.getUint16(2, true);
  const sampleRateHz = chunk.getUint32(4, true);
  const blockAlign = chunk.getUint16(12, true);
  const bits = chunk.getUint16(14, true);
  const kind = sampleKind(formatTag(chunk), bits, isTelephoneRead);
  if (channels === 0) throw new AudioFormatError('its "fmt " chunk declares no channels');
  if (sampleRateHz < MIN_RATE_HZ || sampleRateHz > MAX_RATE_HZ) {
    throw new AudioFormatError(
      `its sample rate is ${sampleRateHz} Hz, and ${MIN_RATE_HZ} to ${MAX_RATE_HZ} Hz can be read`,
    );
  }
  if (blockAlign !== frameBytes({ kind, channels })) {
    throw new AudioFormatError(
      `its "fmt " chunk declares ${blockAlign} bytes a frame for ${channels} channels of ${bits} bits`,
    );
  }
  return { kind, sampleRateHz, channels };
}

const PCM = 0x0001;
const IEEE_FLOAT = 0x0003;
const ALAW = 0x0006;
const MULAW = 0x0007;
const EXTENSIBLE = 0xfffe;

const KNOWN_ENCODINGS: Readonly<Record<number, string>> = {
  [PCM]: "PCM",
  [IEEE_FLOAT]: "float",
  [ALAW]: "A-law",
  [MULAW]: "mu-law",
};
const OTHER_ENCODINGS: Readonly<Record<number, string>> = {
  2: "ADPCM",
  17: "IMA ADPCM",
  49: "GSM 6.10",
  80: "MPEG",
  85: "MP3",
};

/** What follows the tag in the GUID of a sub-format: 0000-0010-8000-00AA00389B71. */
const GUID_TAIL = [0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71];
const GUID_OFFSET = 24;

function formatTag(chunk: DataView): number {
  const tag = chunk.getUint16(0, true);
  if (tag !== EXTENSIBLE) return tag;
  if (chunk.byteLength < GUID_OFFSET + 2 + GUID_TAIL.length) {
    throw new AudioFormatError(
      `its extensible "fmt " chunk has ${chunk.byteLength} bytes where 40 are needed`,
    );
  }
  if (GUID_TAIL.some((byte, index) => chunk.getUint8(GUID_OFFSET + 2 + index) !== byte)) {
    throw new AudioFormatError("its extensible format has a sub-format that is neither PCM nor float");
  }
  return chunk.getUint16(GUID_OFFSET, true);
}

function sampleKind(tag: number, bits: number, isTelephoneRead: boolean): SampleKind {
  const kind = KINDS[`${tag}:${bits}`];
  const isTelephone = tag === ALAW || tag === MULAW;
  if (kind !== undefined && (isTelephoneRead || !isTelephone)) return kind;
  const known = KNOWN_ENCODINGS[tag];
  if (known !== undefined && (isTelephoneRead || !isTelephone)) {
    throw new AudioFormatError(`it holds ${bits}-bit ${known} samples, which cannot be read`);
  }
  const encoding = known ?? OTHER_ENCODINGS[tag] ?? `format 0x${tag.toString(16).padStart(4, "0")}`;
  const read = isTelephoneRead ? "PCM, float, A-law and mu-law" : "PCM and float";
  throw new AudioFormatError(`it is encoded as ${encoding}, and only ${read} WAV can be read`);
}

const KINDS: Readonly<Record<string, SampleKind>> = {
  [`${PCM}:8`]: "u8",
  [`${PCM}:16`]: "s16",
  [`${PCM}:24`]: "s24",
  [`${PCM}:32`]: "s32",
  [`${IEEE_FLOAT}:32`]: "f32",
  [`${IEEE_FLOAT}:64`]: "f64",
  [`${ALAW}:8`]: "alaw",
  [`${MULAW}:8`]: "mulaw",
};
