import { wavHeader } from "../audio/wav-write.ts";
import { MAX_RECORDING_BYTES } from "../contract/audio-transcriptions.ts";
import { ServiceError } from "../contract/errors.ts";
import { quoted } from "../contract/quoted.ts";
import { languageCode } from "../model/languages.ts";
import { GrowingBytes } from "../serving/growing-bytes.ts";
import { NOTHING_HELD } from "../serving/intake.ts";
import { SMALL_BODY_BYTES } from "../serving/preparer.ts";
import { eventOf, type WyomingEvent } from "./event.ts";
import type { WyomingDeps, WyomingRequest } from "./requests.ts";

/** How a recording's samples are stored: whole numbers, little-endian, the channels interleaved. */
interface PcmFormat {
  readonly rate: number;
  /** Bytes of a sample. */
  readonly width: number;
  readonly channels: number;
}

/** A recording as it comes, in memory that is counted for its key before it is taken. */
export class Recording {
  readonly #format: PcmFormat;
  readonly #request: WyomingRequest;
  readonly #deps: WyomingDeps;
  readonly #file = new GrowingBytes(SMALL_BODY_BYTES, MAX_RECORDING_BYTES);

  /** @param data that of `audio-start`. Throws a 422 {@link ServiceError} where it names no format that is read. */
  constructor(data: WyomingEvent["data"], request: WyomingRequest, deps: WyomingDeps) {
    this.#format = readFormat(data);
    this.#request = request;
    this.#deps = deps;
    this.#file.add(wavHeader(0, 0));
  }

  /** Bytes of samples that have come. */
  get receivedBytes(): number {
    return this.#file.length - wavHeader(0, 0).length;
  }

  /** Takes the next samples once there is room. Throws a 400 {@link ServiceError} when they are too many. */
  async add(samples: Uint8Array): Promise<void> {
    const length = this.#file.length + samples.length;
    if (length > MAX_RECORDING_BYTES) {
      throw new ServiceError(
        400,
        `the recording is over ${MAX_RECORDING_BYTES} bytes (25 MiB): send it in parts`,
      );
    }
    const { capacity } = this.#file;
    if (length > capacity) {
      const larger = Math.min(MAX_RECORDING_BYTES, Math.max(length, 2 * capacity));
      await this.#deps.intake.admit(this.#request, larger - capacity);
    }
    this.#file.add(samples);
  }

  /** Tells what is said in all of it: a `transcript`. Throws what {@link WyomingDeps} throw. */
  async transcribe(language: string | null): Promise<WyomingEvent> {
    const { intake, transcriptions } = this.#deps;
    const { bytes } = this.#file;
    const header = wavHeader(0, 0).length;
    const { rate, width, channels } = this.#format;
    bytes.set(wavHeader(bytes.length - header, rate, { bytesPerSample: width, channels }));
    // Its room is given back when the request ends.
    const clip = await intake.readRecording({ bytes, holding: NOTHING_HELD }, this.#request);
    const asked = { clip, language, prompt: null, wantsWords: false };
    const { transcript } = await transcriptions.transcribe(asked, this.#request);
    const heardIn = transcript.language === null ? {} : { language: transcript.language };
    return eventOf("transcript", { text: transcript.text, ...heardIn });
  }
}

/** The language that `transcribe` asks for; `null` is found out. Throws a 400 {@link ServiceError} for an unknown one. */
export function languageOf({ language }: WyomingEvent["data"]): string | null {
  if (language === undefined || language === null || language === "") return null;
  // "en-US" is heard as "en".
  if (typeof language !== "string") throw new ServiceError(422, "language must be a string");
  const code = languageCode(language.split(/[-_]/)[0]!);
  if (code !== null) return code;
  throw new ServiceError(
    400,
    `language ${quoted(language)} is unknown: send its ISO 639-1 code, such as "en", or leave it out to have it detected`,
  );
}

const WIDTHS = [2, 3, 4];
const MOST_CHANNELS = 8;
const RATES = { least: 8_000, most: 96_000 };

function readFormat({ rate, width, channels }: WyomingEvent["data"]): PcmFormat {
  const isFormat =
    isWhole(rate, RATES.least, RATES.most) &&
    isWhole(width, 1, 4) &&
    WIDTHS.includes(width) &&
    isWhole(channels, 1, MOST_CHANNELS);
  if (isFormat) return { rate, width, channels };
  throw new ServiceError(
    422,
    `the audio's format cannot be read: rate may be ${RATES.least} to ${RATES.most} Hz, width ${WIDTHS.join(", ")} bytes, ` +
      `channels 1 to ${MOST_CHANNELS}`,
  );
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}
