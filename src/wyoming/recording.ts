import type { PcmFormat } from "../audio/pcm-format.ts";
import { HIGHEST_RATE_HZ, MAX_CHANNELS } from "../audio/recordings/decoding-budget.ts";
import { MAX_RECORDING_BYTES } from "../contract/audio-transcriptions.ts";
import { ServiceError } from "../contract/errors.ts";
import { quoted } from "../contract/quoted.ts";
import { languageCode } from "../model/languages.ts";
import { GrowingBytes } from "../serving/growing-bytes.ts";
import { SMALL_BODY_BYTES } from "../serving/preparer.ts";
import type { Caller } from "../serving/request-reader.ts";
import { eventOf, type WyomingEvent } from "./event.ts";
import type { WyomingDeps } from "./requests.ts";

/** A recording as it comes, in memory that is counted for its key before it is taken. */
export class Recording {
  readonly #format: PcmFormat;
  readonly #caller: Caller;
  readonly #deps: WyomingDeps;
  readonly #samples = new GrowingBytes(SMALL_BODY_BYTES, MAX_RECORDING_BYTES);
  #holdsRoom = false;

  /** @param data that of `audio-start`. Throws a 422 {@link ServiceError} where it names no format that is read. */
  constructor(data: WyomingEvent["data"], caller: Caller, deps: WyomingDeps) {
    this.#format = readFormat(data);
    this.#caller = caller;
    this.#deps = deps;
  }

  /** Bytes of samples that have come. */
  get receivedBytes(): number {
    return this.#samples.length;
  }

  /** Whether it holds room that others may wait for. */
  get holdsRoom(): boolean {
    return this.#holdsRoom;
  }

  /**
   * Takes the next samples once there is room. Throws a 400 {@link ServiceError} when they are too many, and as
   * `KeyedSemaphore.enter` does: soon where it holds some already, or those that are to grow would wait for each other.
   */
  async add(samples: Uint8Array): Promise<void> {
    const length = this.#samples.length + samples.length;
    if (length > MAX_RECORDING_BYTES) {
      throw new ServiceError(
        400,
        `the recording is over ${MAX_RECORDING_BYTES} bytes (25 MiB): send it in parts`,
      );
    }
    const { capacity } = this.#samples;
    if (length > capacity) {
      const larger = Math.min(MAX_RECORDING_BYTES, Math.max(length, 2 * capacity));
      const { requestReader, queueWaitMs } = this.#deps;
      const waitMs = this.#holdsRoom ? queueWaitMs : undefined;
      const room = await requestReader.admitRecording(this.#caller, larger - capacity, waitMs);
      this.#holdsRoom ||= room !== null;
    }
    this.#samples.add(samples);
  }

  /** Tells what is said in all of it: a `transcript`. Throws a {@link ServiceError}, or the request's abort reason. */
  async transcribe(language: string | null): Promise<WyomingEvent> {
    const { requestReader, transcriptions } = this.#deps;
    const { bytes } = this.#samples;
    if (bytes.length === 0)
      throw new ServiceError(400, "the recording has no samples: send audio-chunk events");
    // Its room is given back when the request ends.
    const sound = await requestReader.openRecording(bytes, this.#caller, this.#format);
    const asked = { sound, language, prompt: null, wantsWords: false };
    const { transcript } = await transcriptions.transcribe(asked, this.#caller);
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

/** A telephone's: what is sent more slowly than a part of that gives way (`giving-way.ts`). */
const LOWEST_RATE_HZ = 8_000;
/** Samples by their bytes. */
const KINDS: ReadonlyMap<unknown, PcmFormat["kind"]> = new Map([
  [2, "s16"],
  [3, "s24"],
  [4, "s32"],
]);

function readFormat({ rate, width, channels }: WyomingEvent["data"]): PcmFormat {
  const kind = KINDS.get(width);
  const isRead = isWhole(rate, LOWEST_RATE_HZ, HIGHEST_RATE_HZ) && isWhole(channels, 1, MAX_CHANNELS);
  if (kind !== undefined && isRead) return { kind, sampleRateHz: rate, channels };
  throw new ServiceError(
    422,
    `the audio's format cannot be read: rate may be ${LOWEST_RATE_HZ} to ${HIGHEST_RATE_HZ} Hz, width ${[...KINDS.keys()].join(", ")} bytes, ` +
      `channels 1 to ${MAX_CHANNELS}`,
  );
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}
