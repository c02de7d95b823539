import type { PcmFormat } from "../../audio/pcm-format.ts";
import { type InboundEvent, readClientEvent } from "../../contract/realtime/client-events.ts";
import type { AudioSource } from "../../core/audio-source.ts";
import type { Span } from "../../core/span.ts";
import type { KeyedSemaphore, Permit } from "../../limits/keyed-semaphore.ts";
import { MAX_HISTORY_SAMPLES } from "./history-audio.ts";
import type { RequestByKind, RequestKind } from "./parse-body.ts";
import type { RecordingReader } from "./recording-reader.ts";
import { type RequestParser, SMALL_BODY_BYTES } from "./request-parser.ts";
import type { ResolvedRequest } from "./resolve-request.ts";

/** Who asks, whatever protocol they came by: the key that pays, and how long the request lasts. */
export interface Caller {
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
  /** Its memory; `null` where it is small. */
  readonly holding: Permit | null;
}

/** A request that was read. */
export interface ReadRequest<P extends ResolvedRequest = ResolvedRequest> {
  readonly prepared: P;
  /** The memory of its audio, which is to be given back once that was heard; `null` where it has none worth counting. */
  readonly audio: Permit | null;
}

export interface RequestReaderDeps {
  readonly parser: RequestParser;
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

const MAX_AUDIO_BYTES = MAX_HISTORY_SAMPLES * Float32Array.BYTES_PER_ELEMENT;

/**
 * The way of a request into the service: room for its body, known from its length, before a byte of it is read; room for
 * its audio before that is decoded. Both are counted for each key, and whoever finds none waits, and costs nothing. What
 * is small holds nothing worth counting: requests themselves are counted where they wait.
 */
export class RequestReader {
  readonly #parts: RequestReaderDeps;

  constructor(parts: RequestReaderDeps) {
    this.#parts = parts;
  }

  /** Whether somebody waits for room to send. */
  get hasQueuedBodies(): boolean {
    return this.#parts.receiving.isShort || this.#parts.recorded.isShort;
  }

  /** Whether somebody waits for room for a recording. */
  get hasQueuedRecordings(): boolean {
    return this.#parts.recorded.isShort;
  }

  /** Room for a body; `null` for a small one, which needs none. Throws as `KeyedSemaphore.enter` does. */
  admit(caller: Caller, lengthBytes: number): Promise<Permit | null> {
    return this.#admit(this.#parts.receiving, caller, lengthBytes);
  }

  /**
   * The same for a recording, which stays what was sent until it has been heard.
   *
   * @param waitMs longest wait; as long as one may be heard unless given
   */
  admitRecording(caller: Caller, lengthBytes: number, waitMs?: number): Promise<Permit | null> {
    return this.#admit(this.#parts.recorded, caller, lengthBytes, waitMs);
  }

  /** Makes a request ready, and counts the memory that its audio takes. Rejects as `RequestParser.prepare` does. */
  async read<P extends RequestKind>(
    purpose: P,
    { bytes, holding }: ReceivedBody,
    caller: Caller,
    voice: string | null = null,
  ): Promise<ReadRequest<RequestByKind[P]>> {
    const { parser, audio, reading } = this.#parts;
    const { keyId, signal } = caller;
    const prepare = () => parser.parse(purpose, bytes, signal, voice);
    if (bytes.length <= SMALL_BODY_BYTES) {
      const prepared = await prepare();
      holding?.release();
      return { prepared, audio: null };
    }
    let decoded: Permit | null = null;
    if (purpose === "converse") {
      const expectedBytes = Math.min(MAX_AUDIO_BYTES, AUDIO_BYTES_PER_BYTE * bytes.length);
      decoded = await audio.enter(keyId, expectedBytes, signal);
      caller.keep(decoded);
    }
    const turn = await reading.enter(keyId, 1, signal);
    caller.keep(turn);
    const prepared = await prepare().finally(() => turn.release());
    holding?.release();
    decoded?.shrink(audioBytes(prepared));
    return { prepared, audio: decoded };
  }

  /** Reads a realtime event; a large one in another thread, when it is the key's turn. Its buffer may be gone afterwards. */
  async readEvent(
    message: Uint8Array,
    { keyId, signal }: Pick<Caller, "keyId" | "signal">,
  ): Promise<InboundEvent> {
    if (message.length <= SMALL_BODY_BYTES) return readClientEvent(message);
    const { parser, reading } = this.#parts;
    const turn = await reading.enter(keyId, 1, signal);
    return parser.readEvent(message, signal).finally(() => turn.release());
  }

  /**
   * Looks a recording over, which is decoded as it is read, until the request ends. Its buffer is gone afterwards. Rejects
   * as `RecordingReader.open` does.
   *
   * @param format of bare samples; absent for a file
   * @param field that a file came in
   */
  async openRecording(
    bytes: Uint8Array<ArrayBuffer>,
    caller: Caller,
    format: PcmFormat | null = null,
    field = "file",
  ): Promise<AudioSource> {
    const sound = await this.#parts.recordings.open(bytes, caller.signal, format, field);
    caller.keep(sound);
    return sound;
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
    caller: Caller,
    lengthBytes: number,
    waitMs?: number,
  ): Promise<Permit | null> {
    if (lengthBytes <= SMALL_BODY_BYTES) return null;
    const holding = await share.enter(caller.keyId, lengthBytes, caller.signal, waitMs);
    caller.keep(holding);
    return holding;
  }
}

function audioBytes({ conversation }: ResolvedRequest): number {
  return conversation.history.reduce((sum, { audio }) => sum + (audio?.samples.byteLength ?? 0), 0);
}
