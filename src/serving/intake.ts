import { MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import type { Clip } from "../model/conversation.ts";
import type { Span } from "../tracing/span.ts";
import type { FairShare, Holding } from "./fair-share.ts";
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
  keep(holding: Holding): void;
}

/** A body as it came. */
export interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** Its memory. */
  readonly holding: Holding;
}

export interface IntakeParts {
  readonly preparer: Preparer;
  readonly recordings: RecordingReader;
  /** Bytes of bodies that are being received or wait to be read. */
  readonly receiving: FairShare;
  /** Bytes of decoded audio. */
  readonly audio: FairShare;
  /** The thread that reads large bodies, one at a time. */
  readonly reading: FairShare;
  /** The thread that decodes recordings, one at a time. */
  readonly decoding: FairShare;
}

/** Of a body's audio, decoded: three quarters of its base64, and at most four times that (8-bit samples as floats). */
const AUDIO_BYTES_PER_BYTE = 3;

const MOST_AUDIO_BYTES = MOST_SAMPLES * Float32Array.BYTES_PER_ELEMENT;

/** Of a file's, by far the most that speech is compressed to; and of the longest one, at the highest rate that is kept. */
const AUDIO_BYTES_PER_FILE_BYTE = 100;
const MOST_RECORDING_BYTES = MAX_RECORDING_S * 24_000 * Float32Array.BYTES_PER_ELEMENT;

/** What small bodies hold: nothing worth counting. Requests themselves are counted where they wait. */
export const NOTHING_HELD: Holding = { units: 0, resize: () => {}, release: () => {} };

/**
 * The way of a request into the service: room for its body, known from its length, before a byte of it is read; room for
 * its audio before that is decoded. Both are counted for each key, and whoever finds none waits, and costs nothing.
 */
export class Intake {
  readonly #parts: IntakeParts;
  /** The audio of requests whose voices have not been heard yet. */
  readonly #unheard = new WeakMap<object, Holding>();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Whether somebody waits for room to send. */
  get isAwaited(): boolean {
    return this.#parts.receiving.isShort;
  }

  /** Room for a body. Throws as `FairShare.enter` does. */
  async admit(requester: Requester, lengthBytes: number): Promise<Holding> {
    if (lengthBytes <= SMALL_BODY_BYTES) return NOTHING_HELD;
    const holding = await this.#parts.receiving.enter(requester.keyId, lengthBytes, requester.signal);
    requester.keep(holding);
    return holding;
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
    decoded.resize(audioBytes(prepared));
    this.#unheard.set(prepared, decoded);
    return prepared;
  }

  /**
   * Decodes a file, and counts the memory that its audio takes until the request ends. Rejects as `RecordingReader.read`
   * does.
   */
  async readRecording(
    { bytes, holding }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly holding: Holding },
    requester: Requester,
  ): Promise<Clip> {
    const { recordings, audio, decoding } = this.#parts;
    const { keyId, signal } = requester;
    const expectedBytes = Math.min(MOST_RECORDING_BYTES, AUDIO_BYTES_PER_FILE_BYTE * bytes.length);
    const decoded = await audio.enter(keyId, expectedBytes, signal);
    requester.keep(decoded);
    const turn = await decoding.enter(keyId, 1, signal);
    requester.keep(turn);
    const clip = await recordings.read(bytes, signal).finally(() => turn.release());
    holding.release();
    decoded.resize(clip.samples.byteLength);
    return clip;
  }

  /** Gives the room of a request's audio back: nobody needs it any more. */
  heard(prepared: PreparedFor[Purpose]): void {
    this.#unheard.get(prepared)?.release();
  }

  /** Refuses whoever waits for room and whoever comes. */
  close(): void {
    this.#parts.receiving.close();
    this.#parts.audio.close();
    this.#parts.reading.close();
    this.#parts.decoding.close();
  }
}

function audioBytes({ conversation }: PreparedFor[Purpose]): number {
  return conversation.history.reduce((sum, { audio }) => sum + (audio?.samples.byteLength ?? 0), 0);
}
