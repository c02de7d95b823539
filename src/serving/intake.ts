import type { PcmFormat } from "../audio/pcm-format.ts";
import type { Sound } from "../model/sound.ts";
import type { Span } from "../tracing/span.ts";
import type { KeyedSemaphore, Permit } from "./keyed-semaphore.ts";
import { MOST_SAMPLES } from "./prepare.ts";
import type { PreparedFor, Purpose } from "./prepare-body.ts";
import { type Preparer, SMALL_BODY_BYTES } from "./preparer.ts";
import type { RecordingReader } from "./recording-reader.ts";

/** Whose request it is, and how long it lasts. */
export interface Requester {
  readonly keyId: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** The request's. */
  readonly span: Span;
  /** What it holds until it ends, however it ends. */
  keep(holding: Pick<Permit, "release">): void;
}

/** A body as it came. */
export interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** Its memory. */
  readonly holding: Permit;
}

export interface IntakeParts {
  readonly preparer: Preparer;
  readonly recordings: RecordingReader;
  /** Bytes of bodies that are being received or wait to be read. */
  readonly receiving: KeyedSemaphore;
  /** Bytes of recordings that are being received, wait to be heard, or are being heard. */
  readonly recorded: KeyedSemaphore;
  /** Bytes of decoded audio. */
  readonly audio: KeyedSemaphore;
  /** The thread that reads large bodies, one at a time. */
  readonly reading: KeyedSemaphore;
}

/** Of a body's audio, decoded: three quarters of its base64, and at most four times that (8-bit samples as floats). */
const AUDIO_BYTES_PER_BYTE = 3;

const MOST_AUDIO_BYTES = MOST_SAMPLES * Float32Array.BYTES_PER_ELEMENT;

/** What small bodies hold: nothing worth counting. Requests themselves are counted where they wait. */
export const NOTHING_HELD: Permit = {
  units: 0,
  shrink: () => {},
  release: () => {},
};

/**
 * The way of a request into the service: room for its body, known from its length, before a byte of it is read; room for
 * its audio before that is decoded. Both are counted for each key, and whoever finds none waits, and costs nothing.
 */
export class Intake {
  readonly #parts: IntakeParts;
  /** The audio of requests whose voices have not been heard yet. */
  readonly #unheard = new WeakMap<object, Permit>();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Whether somebody waits for room to send. */
  get isAwaited(): boolean {
    return this.#parts.receiving.isShort || this.#parts.recorded.isShort;
  }

  /** Whether somebody waits for room for a recording. */
  get isRecordingAwaited(): boolean {
    return this.#parts.recorded.isShort;
  }

  /** Room for a body. Throws as `KeyedSemaphore.enter` does. */
  admit(requester: Requester, lengthBytes: number): Promise<Permit> {
    return this.#admit(this.#parts.receiving, requester, lengthBytes);
  }

  /**
   * Room for a recording, which stays what was sent until it has been heard. Throws as `KeyedSemaphore.enter` does.
   *
   * @param waitMs longest wait; as long as one may be heard unless given
   */
  admitRecording(requester: Requester, lengthBytes: number, waitMs?: number): Promise<Permit> {
    return this.#admit(this.#parts.recorded, requester, lengthBytes, waitMs);
  }

  /** Makes a request ready, and counts the memory that its audio takes. Rejects as `Preparer.prepare` does. */
  async prepare<P extends Purpose>(
    purpose: P,
    { bytes, holding }: ReceivedBody,
    requester: Requester,
    voice: string | null = null,
  ): Promise<PreparedFor[P]> {
    const { preparer, audio, reading } = this.#parts;
    const { keyId, signal } = requester;
    const hasAudio = bytes.length > SMALL_BODY_BYTES && purpose === "converse";
    const expectedBytes = Math.min(MOST_AUDIO_BYTES, AUDIO_BYTES_PER_BYTE * bytes.length);
    const decoded = hasAudio ? await audio.enter(keyId, expectedBytes, signal) : NOTHING_HELD;
    requester.keep(decoded);
    const turn = bytes.length > SMALL_BODY_BYTES ? await reading.enter(keyId, 1, signal) : NOTHING_HELD;
    requester.keep(turn);
    const prepared = await preparer.prepare(purpose, bytes, signal, voice).finally(() => turn.release());
    holding.release();
    decoded.shrink(audioBytes(prepared));
    this.#unheard.set(prepared, decoded);
    return prepared;
  }

  /**
   * Looks a recording over, which is decoded as it is read, until the request ends. Its buffer is gone afterwards. Rejects
   * as `RecordingReader.open` does.
   *
   * @param format of bare samples; absent for a file
   */
  async openRecording(
    bytes: Uint8Array<ArrayBuffer>,
    requester: Requester,
    format: PcmFormat | null = null,
  ): Promise<Sound> {
    const sound = await this.#parts.recordings.open(bytes, requester.signal, format);
    requester.keep(sound);
    return sound;
  }

  /** Gives the room of a request's audio back: nobody needs it any more. */
  heard(prepared: PreparedFor[Purpose]): void {
    this.#unheard.get(prepared)?.release();
  }

  /** Refuses whoever waits for room and whoever comes. */
  close(): void {
    this.#parts.receiving.close();
    this.#parts.recorded.close();
    this.#parts.audio.close();
    this.#parts.reading.close();
  }

  async #admit(
    share: KeyedSemaphore,
    requester: Requester,
    lengthBytes: number,
    waitMs?: number,
  ): Promise<Permit> {
    if (lengthBytes <= SMALL_BODY_BYTES) return NOTHING_HELD;
    const holding = await share.enter(requester.keyId, lengthBytes, requester.signal, waitMs);
    requester.keep(holding);
    return holding;
  }
}

function audioBytes({ conversation }: PreparedFor[Purpose]): number {
  return conversation.history.reduce((sum, { audio }) => sum + (audio?.samples.byteLength ?? 0), 0);
}
