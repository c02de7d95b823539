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

/** Caller of a request in any protocol: the key that pays, and the request's lifetime. */
export interface Caller {
  readonly keyId: string;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  readonly span: Span;
  /** Releases a permit at the request's end. */
  keep(holding: Pick<Permit, "release">): void;
}

export interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** Permit for its memory; `null` if it is small. */
  readonly holding: Permit | null;
}

export interface ReadRequest<P extends ResolvedRequest = ResolvedRequest> {
  readonly prepared: P;
  /** Permit for the memory of its audio, to be released once that is analysed; `null` if it has little or none. */
  readonly audio: Permit | null;
}

export interface RequestReaderDeps {
  readonly parser: RequestParser;
  readonly recordings: RecordingReader;
  /** Bytes of bodies that are being received or wait to be read. */
  readonly receiving: KeyedSemaphore;
  /** Bytes of recordings, from their receipt until they are transcribed. */
  readonly recorded: KeyedSemaphore;
  /** Bytes of decoded audio. */
  readonly audio: KeyedSemaphore;
  /** Thread that reads large bodies, one at a time. */
  readonly reading: KeyedSemaphore;
}

/** Decoded bytes per byte of body, at most: three quarters of base64, times four (8-bit samples as floats). */
const AUDIO_BYTES_PER_BYTE = 3;

const MAX_AUDIO_BYTES = MAX_HISTORY_SAMPLES * Float32Array.BYTES_PER_ELEMENT;

/**
 * Reads requests within memory limits: room for a body, by its length, before any of it is received, and room for its
 * audio before that is decoded. Both are counted per key, and a request without room waits at no cost. Small bodies
 * are not counted.
 */
export class RequestReader {
  readonly #parts: RequestReaderDeps;

  constructor(parts: RequestReaderDeps) {
    this.#parts = parts;
  }

  get hasQueuedBodies(): boolean {
    return this.#parts.receiving.isShort || this.#parts.recorded.isShort;
  }

  get hasQueuedRecordings(): boolean {
    return this.#parts.recorded.isShort;
  }

  /** Reserves room for a body; `null` for a small one. Rejects as `KeyedSemaphore.enter` does. */
  admit(caller: Caller, lengthBytes: number): Promise<Permit | null> {
    return this.#admit(this.#parts.receiving, caller, lengthBytes);
  }

  /**
   * Reserves the same for a recording, which stays in memory until it is transcribed.
   *
   * @param waitMs longest wait. Default: as long as a transcription may take
   */
  admitRecording(caller: Caller, lengthBytes: number, waitMs?: number): Promise<Permit | null> {
    return this.#admit(this.#parts.recorded, caller, lengthBytes, waitMs);
  }

  /** Reads a request and counts the memory of its audio. Rejects as `RequestParser.parse` does. */
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
    const { history } = prepared.conversation;
    decoded?.shrink(history.reduce((sum, { audio: clip }) => sum + (clip?.samples.byteLength ?? 0), 0));
    return { prepared, audio: decoded };
  }

  /** Reads a realtime event; a large one in another thread, in the key's turn. Its buffer may be gone afterwards. */
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
   * Opens a recording until the request ends and takes over its buffer. Rejects as `RecordingReader.open` does.
   *
   * @param format of raw samples; absent for a file
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

  /** Refuses all waiting and further requests. */
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
