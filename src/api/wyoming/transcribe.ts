import type { PcmFormat } from "../../audio/pcm-format.ts";
import { MAX_CHANNELS, MAX_RATE_HZ } from "../../audio/recordings/decoding-budget.ts";
import { MAX_RECORDING_BYTES } from "../../contract/audio-transcriptions.ts";
import { quoted, ServiceError } from "../../contract/errors.ts";
import { languageCode } from "../../core/languages.ts";
import type { RequestContext } from "../../requests/request-context.ts";
import { GrowingBytes } from "../../serving/prepare/growing-bytes.ts";
import { SMALL_BODY_BYTES } from "../../serving/prepare/request-parser.ts";
import type { ConnectionActivity } from "./eviction.ts";
import type { WyomingDeps } from "./requests.ts";
import { type WyomingEvent, wyomingEvent } from "./wyoming-event.ts";

/** A recording being received, its request, and the memory that its key holds for it. */
export class Recording {
  readonly request: RequestContext;
  readonly #format: PcmFormat;
  readonly #deps: WyomingDeps;
  readonly #samples = new GrowingBytes(SMALL_BODY_BYTES, MAX_RECORDING_BYTES);
  readonly #openedMs = performance.now();
  readonly #pace = new ByteRate();
  /** Milliseconds spent waiting for memory, which do not count against the client. */
  #waitedMs = 0;
  #isWaiting = false;
  #holdsRoom = false;

  /** @param data of `audio-start`. Throws a 422 {@link ServiceError} for an unsupported format. */
  constructor(data: WyomingEvent["data"], request: RequestContext, deps: WyomingDeps) {
    this.#format = readFormat(data);
    this.request = request;
    this.#deps = deps;
  }

  get holdsRoom(): boolean {
    return this.#holdsRoom;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Records the bytes received so far, from which the rate is computed. Call it at least once a second. */
  noteProgress(waitingBytes: number): void {
    if (!this.#isWaiting) this.#pace.note(this.#ageMs, this.#samples.length + waitingBytes);
  }

  /**
   * Returns how the connection uses its slot until the recording is complete.
   *
   * @param waitingBytes bytes received of an incomplete event
   */
  activity(waitingBytes: number): ConnectionActivity {
    const ageMs = this.#ageMs;
    const bytes = this.#samples.length + waitingBytes;
    if (bytes === 0) return { is: "empty", ageMs };
    return { is: "sending", ageMs, bytesPerS: this.#pace.bytesPerS(ageMs, bytes) };
  }

  /**
   * Adds samples once there is memory. Throws a 400 {@link ServiceError} beyond the limit, and as
   * `KeyedSemaphore.enter` does. A recording that already holds memory waits only briefly, since growing recordings
   * would otherwise wait for each other.
   */
  async add(samples: Uint8Array): Promise<void> {
    const askedMs = performance.now();
    this.#isWaiting = true;
    try {
      await this.#makeRoom(samples.length);
    } finally {
      this.#isWaiting = false;
      this.#waitedMs += performance.now() - askedMs;
    }
    this.#samples.add(samples);
  }

  /** Returns the `transcript` event. Throws a {@link ServiceError} or the abort reason. */
  async transcribe(language: string | null): Promise<WyomingEvent> {
    const { requestReader, transcriptions } = this.#deps;
    const { bytes } = this.#samples;
    if (bytes.length === 0)
      throw new ServiceError(400, "the recording has no samples: send audio-chunk events");
    // The memory is released when the request ends.
    const sound = await requestReader.openRecording(bytes, this.request.caller, this.#format);
    const request = { sound, language, prompt: null, wantsWords: false };
    const { transcript } = await transcriptions.transcribe(request, this.request.caller);
    const detected = transcript.language === null ? {} : { language: transcript.language };
    return wyomingEvent("transcript", { text: transcript.text, ...detected });
  }

  get #ageMs(): number {
    return performance.now() - this.#openedMs - this.#waitedMs;
  }

  async #makeRoom(bytes: number): Promise<void> {
    const length = this.#samples.length + bytes;
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
      const room = await requestReader.admitRecording(this.request.caller, larger - capacity, waitMs);
      this.#holdsRoom ||= room !== null;
    }
  }
}

/**
 * Returns the language of a `transcribe` event; `null`: detect it. Throws a 400 {@link ServiceError} for an unknown
 * one.
 */
export function languageOf({ language }: WyomingEvent["data"]): string | null {
  if (language === undefined || language === null || language === "") return null;
  // "en-US" counts as "en".
  if (typeof language !== "string") throw new ServiceError(422, "language must be a string");
  const code = languageCode(language.split(/[-_]/)[0]!);
  if (code !== null) return code;
  throw new ServiceError(
    400,
    `language ${quoted(language)} is unknown: send its ISO 639-1 code, such as "en", or leave it out to have it detected`,
  );
}

/**
 * Telephone audio, the lowest rate accepted. A recording that arrives much more slowly may be evicted
 * (`eviction.ts`).
 */
const MIN_RATE_HZ = 8_000;
const SAMPLE_KINDS: ReadonlyMap<unknown, PcmFormat["kind"]> = new Map([
  [2, "s16"],
  [3, "s24"],
  [4, "s32"],
]);

function readFormat({ rate, width, channels }: WyomingEvent["data"]): PcmFormat {
  const kind = SAMPLE_KINDS.get(width);
  const isRead = isWhole(rate, MIN_RATE_HZ, MAX_RATE_HZ) && isWhole(channels, 1, MAX_CHANNELS);
  if (kind !== undefined && isRead) return { kind, sampleRateHz: rate, channels };
  throw new ServiceError(
    422,
    `the audio's format cannot be read: rate may be ${MIN_RATE_HZ} to ${MAX_RATE_HZ} Hz, width ${[...SAMPLE_KINDS.keys()].join(", ")} bytes, ` +
      `channels 1 to ${MAX_CHANNELS}`,
  );
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

/** Milliseconds over which the rate is measured: more than a client may take between two chunks. */
const WINDOW_MS = 3_000;
/** A measurement within this many milliseconds replaces the previous one. */
const STEP_MS = 250;

/** Rate over the last three to four seconds, so that earlier bursts do not count. */
export class ByteRate {
  readonly #marks: { readonly atMs: number; readonly bytes: number }[] = [{ atMs: 0, bytes: 0 }];

  /**
   * Records the bytes received so far. Call it at least once a second.
   *
   * @param atMs milliseconds since the start; never decreases
   * @param bytes total since the start
   */
  note(atMs: number, bytes: number): void {
    const beforeLast = this.#marks.at(-2);
    if (beforeLast !== undefined && atMs - beforeLast.atMs < STEP_MS) this.#marks.pop();
    this.#marks.push({ atMs, bytes });
    while (this.#marks.length > 1 && this.#marks[1]!.atMs <= atMs - WINDOW_MS) this.#marks.shift();
  }

  bytesPerS(atMs: number, bytes: number): number {
    const from = this.#marks.findLast((mark) => mark.atMs <= atMs - WINDOW_MS) ?? this.#marks[0]!;
    return (1_000 * Math.max(0, bytes - from.bytes)) / Math.max(1, atMs - from.atMs);
  }
}
