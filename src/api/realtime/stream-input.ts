import type { Encoding } from "../../audio/encode/encoder.ts";
import { ServiceError } from "../../contract/errors.ts";
import { readJsonBody } from "../../contract/json/read-json.ts";
import { MAX_TEXT_CHARS } from "../../contract/limits.ts";
import { StreamInputMessage } from "../../contract/realtime/stream-input.ts";
import { parseStreamInputMessage } from "../../contract/validate.ts";
import { abortable } from "../../core/abortable.ts";
import type { RequestContext } from "../../requests/request-context.ts";
import type { ResolvedRequest } from "../../serving/prepare/resolve-request.ts";
import type { SpeechService } from "../../serving/reply/speech-service.ts";
import { StreamedText } from "../../serving/reply/streamed-text.ts";
import { toServiceError } from "../../serving/service-errors.ts";
import { CharacterAlignment } from "./character-alignment.ts";
import type { RealtimeDialect, SessionConnection, SessionHandler } from "./realtime-dialect.ts";

export interface StreamInputOptions {
  readonly service: Pick<SpeechService, "speak">;
  /** Voice, model and language; the text comes later. */
  readonly prepared: ResolvedRequest;
  readonly encoding: Encoding;
  /** Longest time in milliseconds without a message. */
  readonly inactivityMs: number;
  /** Whether every text is a whole sentence or phrase, to be spoken at once. */
  readonly isAuto: boolean;
  /** Whether there are several texts, by `context_id`; else one, whose end closes the connection. */
  readonly isMulti: boolean;
  /** Whether times count from the start of a text. */
  readonly countsFromStart: boolean;
}

/** Maximum texts of a connection that are open, as at ElevenLabs. */
const MAX_CONTEXTS = 5;

/** A text that is spoken while it arrives. */
interface Context {
  readonly words: StreamedText;
  readonly fields: { readonly contextId?: string };
  rate: number;
  isEnded: boolean;
  speaking: Promise<void> | null;
}

/** A session that speaks texts as they arrive, in the protocol of ElevenLabs' WebSockets. Any error ends it. */
export class StreamInput implements SessionHandler<StreamInputEvent> {
  readonly #options: StreamInputOptions;
  readonly #connection: SessionConnection;
  readonly #contexts = new Map<string, Context>();
  #isEnding = false;

  constructor(options: StreamInputOptions, connection: SessionConnection) {
    this.#options = options;
    this.#connection = connection;
  }

  get isBusy(): boolean {
    return [...this.#contexts.values()].some(({ isEnded, words }) => isEnded || words.hasMore);
  }

  begin(): void {}

  async receive({ message, error }: StreamInputEvent): Promise<void> {
    if (this.#isEnding) return;
    try {
      if (message === null) throw error;
      const { isMulti } = this.#options;
      if (isMulti ? message.close_socket === true : message.text === "") this.#finish();
      else this.#take(message, isMulti ? (message.context_id ?? "") : "");
    } catch (failure) {
      this.#fail(toServiceError(failure), {});
    }
  }

  async whenIdle(): Promise<void> {
    await Promise.all([...this.#contexts.values()].map(({ speaking }) => speaking));
  }

  end(): void {
    this.#isEnding = true;
    for (const { words } of this.#contexts.values()) words.release();
  }

  #take(
    { text = "", flush, close_context: close, voice_settings: voice }: StreamInputMessage,
    id: string,
  ): void {
    const known = this.#contexts.get(id);
    // It keeps the connection open, or is about a context that has ended.
    if (known === undefined && text === "") return;
    const context = known ?? this.#open(id);
    const hasText = text.trim() !== "";
    if (context.isEnded && hasText)
      throw new ServiceError(400, "the context was closed: send further text with another context_id");
    const rate = voice?.speed ?? context.rate;
    if (context.speaking !== null && rate !== context.rate)
      throw new ServiceError(400, "voice_settings.speed can only be sent before the first words of a text");
    context.rate = rate;
    context.words.push(text);
    if (flush === true || (this.#options.isAuto && hasText)) context.words.flush();
    if (hasText) context.speaking ??= this.#speak(context, id);
    if (close === true) this.#endText(context, id);
  }

  #open(id: string): Context {
    if (this.#contexts.size >= MAX_CONTEXTS)
      throw new ServiceError(400, `${MAX_CONTEXTS} contexts are open, the maximum: close one first`);
    const fields = id === "" ? {} : { contextId: id };
    const context = {
      words: new StreamedText(MAX_TEXT_CHARS),
      fields,
      rate: 1,
      isEnded: false,
      speaking: null,
    };
    this.#contexts.set(id, context);
    return context;
  }

  #endText(context: Context, id: string): void {
    context.isEnded = true;
    context.words.end();
    if (context.speaking === null) this.#close(context, id);
  }

  /** Ends every text, and closes the connection once they are spoken. */
  #finish(): void {
    this.#isEnding = true;
    if (!this.#options.isMulti && this.#contexts.size === 0) this.#open("");
    for (const [id, context] of this.#contexts) this.#endText(context, id);
    void this.whenIdle().then(() => this.#connection.close());
  }

  #close({ fields, words: { cautions } }: Context, id: string): void {
    this.#contexts.delete(id);
    const nothing = { audio: null, alignment: null, normalizedAlignment: null };
    const more = cautions.length === 0 ? {} : { cautions };
    this.#connection.send({ type: "final", ...nothing, isFinal: true, ...more, ...fields });
  }

  /** Speaks a text to its end. Never rejects. */
  async #speak(context: Context, id: string): Promise<void> {
    const { signal } = this.#connection;
    let request: RequestContext | null = null;
    try {
      request = await this.#connection.begin("speech", signal);
      await this.#send(context, request);
      request.end();
    } catch (error) {
      context.words.release();
      if (signal.aborted) return request?.leave("it closed the connection");
      if (!context.words.isBlank)
        return this.#fail(request?.end(error) ?? toServiceError(error), context.fields);
      // A text without words is no error: a reply may be empty.
      request?.end();
    }
    if (!signal.aborted) this.#close(context, id);
  }

  async #send({ words, rate, fields }: Context, { caller }: RequestContext): Promise<void> {
    const { service, prepared, encoding, inactivityMs: textTimeoutMs, countsFromStart } = this.#options;
    const alignments = new CharacterAlignment(countsFromStart);
    const preset = rate === 1 ? prepared.preset : { ...prepared.preset, rate };
    const onSentence = (sentence: string) => alignments.addSentence(sentence);
    const form = {
      encoding,
      isStreamed: true,
      isPlayed: true,
      streamedText: words,
      textTimeoutMs,
      onSentence,
    };
    for await (const { bytes, marks } of service.speak({ ...prepared, preset }, { ...caller, ...form })) {
      const alignment = alignments.take(marks.words ?? []);
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
      const times = { alignment, normalizedAlignment: alignment };
      this.#connection.send({ type: "audio.delta", audio, isFinal: null, ...times, ...fields });
      await abortable(this.#connection.hasRoom(), caller.signal);
    }
  }

  #fail(failure: ServiceError, fields: Context["fields"]): void {
    const { type: code, message } = failure;
    this.#isEnding = true;
    this.#connection.send({ type: "error", error: { code, message }, ...fields });
    this.#connection.close(failure);
  }
}

/** A message, or the error that it is refused with. */
type StreamInputEvent =
  | { readonly type: "message"; readonly message: StreamInputMessage; readonly error?: undefined }
  | { readonly type: "error"; readonly message: null; readonly error: unknown };

/** Maximum bytes of a message; a text of 8,000 characters has fewer, even if most are escaped. */
const MAX_STREAM_INPUT_BYTES = 64 * 1024;

/** Reads a message. Throws a 422 {@link ServiceError}. */
export function readStreamInput(bytes: Uint8Array): StreamInputMessage {
  if (bytes.length > MAX_STREAM_INPUT_BYTES)
    throw new ServiceError(422, `a message may have ${MAX_STREAM_INPUT_BYTES} bytes: send the text in parts`);
  return parseStreamInputMessage(readJsonBody(bytes, StreamInputMessage, { isNullAbsent: true }).value);
}

/** ElevenLabs' protocol, whose messages have no types. */
export const streamInputDialect: RealtimeDialect<StreamInputEvent> = {
  read(bytes) {
    try {
      return { messages: [], events: [{ type: "message", message: readStreamInput(bytes) }] };
    } catch (error) {
      return { messages: [], events: [{ type: "error", message: null, error }] };
    }
  },
  write({ type, error, ...fields }) {
    const { code, message } = (error ?? {}) as { readonly code?: string; readonly message?: string };
    return {
      messages: [JSON.stringify({ ...fields, ...(type === "error" ? { error: code, message } : {}) })],
      events: [],
    };
  },
};
