import { AntiphonError, type AntiphonErrorType } from "./antiphon-error.ts";
import {
  type Answer,
  type Ask,
  type AskOptions,
  BROKEN_OFF,
  type CallOptions,
  type ConnectionOptions,
  connectionTo,
  linkedController,
  MAX_BYTES,
  textOf,
} from "./connection.ts";
import type {
  ConverseReply,
  CreatedVoice,
  DeletedVoice,
  DialogueEvent,
  Info,
  ModelCard,
  StreamEvent,
  Transcripts,
  TtsReply,
  UsageSummary,
  Voice,
} from "./replies.ts";
import type {
  ConverseRequest,
  DialogueRequest,
  NewVoice,
  SpeechRequest,
  TranscriptFormat,
  TranscriptionRequest,
  TtsRequest,
} from "./requests.ts";
import { pcmOf } from "./samples.ts";
import { readEvents, type SentEvent } from "./server-sent-events.ts";

export { AntiphonError, type AntiphonErrorDetails, type AntiphonErrorType } from "./antiphon-error.ts";
export type { CallOptions, ConnectionOptions } from "./connection.ts";
export type * from "./replies.ts";
export type * from "./requests.ts";
export { bytesOf, encodeWav, pcmOf, toBase64 } from "./samples.ts";

/** A client of one Antiphon server. Every call throws an {@link AntiphonError}, or the reason of its signal. */
export class Antiphon {
  readonly #ask: Ask;

  constructor(options: ConnectionOptions) {
    this.#ask = connectionTo(options);
  }

  /** Converts text to speech, as one WAV. */
  tts(request: TtsRequest, options?: CallOptions): Promise<TtsReply> {
    return this.#json("/v1/tts", request, options);
  }

  /** Speaks the last turn of a conversation, as one WAV. */
  converse(request: ConverseRequest, options?: CallOptions): Promise<ConverseReply> {
    return this.#json("/v1/converse", request, options);
  }

  /**
   * Streams the last turn of a conversation, frame by frame. The request is sent when the first event is awaited.
   * Leaving the loop closes the connection, which ends the generation. A reply that has begun is never retried.
   */
  stream(request: ConverseRequest, options: CallOptions = {}): AsyncIterableIterator<StreamEvent> {
    return readReply(
      (signal) => this.#ask("/v1/converse/stream", request, { ...options, signal }),
      options.signal,
    );
  }

  /** Converts text to speech with OpenAI's fields: a file in the requested format. */
  speech(request: SpeechRequest, options?: CallOptions): Promise<Blob> {
    return this.#whole("/v1/audio/speech", request, options, fileOf);
  }

  /** Speaks a script of several people: a file in the requested format. */
  dialogue(request: DialogueRequest, options?: CallOptions): Promise<Blob> {
    return this.#whole("/v1/audio/dialogue", request, options, fileOf);
  }

  /** Streams a dialogue: who speaks with which voice, then the file in parts, with words. Sent and left as in `stream`. */
  dialogueStream(request: DialogueRequest, options: CallOptions = {}): AsyncIterableIterator<DialogueEvent> {
    const asked = { ...request, stream_format: "sse" };
    return readReply(
      (signal) => this.#ask("/v1/audio/dialogue", asked, { ...options, signal }),
      options.signal,
      dialogueEventOf,
    );
  }

  /** Transcribes a recording: text for the formats `text`, `srt` and `vtt`, otherwise an object. */
  async transcribe<F extends TranscriptFormat = "json">(
    request: TranscriptionRequest<F>,
    options?: CallOptions,
  ): Promise<Transcripts[F]> {
    const isJson = /^$|json$/.test(request.response_format ?? "");
    const read: (answer: Answer) => Promise<unknown> = isJson ? jsonOf : textOf;
    const { file, ...fields } = request;
    const form = formOf({ model: "whisper-1", ...fields, file });
    const transcript = await this.#whole("/v1/audio/transcriptions", form, options, read);
    return transcript as Transcripts[F];
  }

  /** Lists the public models. */
  async models(options?: CallOptions): Promise<readonly ModelCard[]> {
    return (await this.#json<{ data: ModelCard[] }>("/v1/models", undefined, options)).data;
  }

  /** Lists the voices, including the key's own. */
  async voices(options?: CallOptions): Promise<readonly Voice[]> {
    return (await this.#json<{ data: Voice[] }>("/v1/audio/voices", undefined, options)).data;
  }

  /** Returns a sample of a voice: an MP3. @param model the model that speaks; default: the server's */
  voiceSample(voice: string, model?: string, options?: CallOptions): Promise<Blob> {
    const query = model ? `?model=${encodeURIComponent(model)}` : "";
    const path = `/v1/audio/voices/${encodeURIComponent(voice)}/sample${query}`;
    return this.#whole(path, undefined, options, fileOf);
  }

  /** Creates a voice from a recording. It belongs to the key. */
  createVoice({ audio_sample, ...fields }: NewVoice, options?: CallOptions): Promise<CreatedVoice> {
    return this.#json("/v1/audio/voices", formOf({ ...fields, audio_sample }), options);
  }

  /** Deletes a voice of the key and its recording. @param voice its id or name */
  deleteVoice(voice: string, options?: CallOptions): Promise<DeletedVoice> {
    const path = `/v1/audio/voices/${encodeURIComponent(voice)}`;
    return this.#json(path, undefined, { ...options, method: "DELETE" });
  }

  /** Returns the server's description, defaults and limits. */
  info(options?: CallOptions): Promise<Info> {
    return this.#json("/v1/info", undefined, options);
  }

  /** Returns the key's total usage. */
  usage(options?: CallOptions): Promise<UsageSummary> {
    return this.#json("/v1/usage", undefined, options);
  }

  #json<T>(path: string, body: object | undefined, options: AskOptions | undefined): Promise<T> {
    return this.#whole(path, body, options, jsonOf<T>);
  }

  async #whole<T>(
    path: string,
    body: object | undefined,
    options: AskOptions | undefined,
    read: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    const answer = await this.#ask(path, body, options);
    try {
      return await read(answer);
    } finally {
      answer.end();
    }
  }
}

async function fileOf(answer: Answer): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of answer.chunks()) {
    pieces.push(chunk);
    // Speech has no size limit.
    answer.leftBytes = MAX_BYTES;
  }
  return new Blob(pieces, { type: answer.mediaType });
}

async function jsonOf<T>(answer: Answer): Promise<T> {
  const text = await textOf(answer);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw answer.failure("invalid_response", "the answer is not JSON: check baseUrl", { cause });
  }
}

type Field = string | readonly string[] | Blob | Uint8Array<ArrayBuffer> | undefined;

/** Builds a form with its file last, so that a server can refuse it before the file arrives. */
function formOf(fields: Readonly<Record<string, Field>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(name, value);
    else if (value instanceof Uint8Array) form.append(name, new Blob([value]), "recording");
    else if (value instanceof Blob) form.append(name, value, "recording");
    else for (const each of value ?? []) form.append(`${name}[]`, each);
  }
  return form;
}

/**
 * Streams a reply, requested when the first event is awaited. Leaving the iterator closes the connection at any time.
 */
export function readReply<E = StreamEvent>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  caller: AbortSignal | undefined,
  read: ReadEvent<E> = eventOf as ReadEvent<E>,
): AsyncIterableIterator<E> {
  let leave = () => {};
  async function* readAll(): AsyncGenerator<E, void, void> {
    const { leaving, unfollow } = linkedController(caller);
    leave = () => leaving.abort(leave);
    let answer: Answer | undefined;
    try {
      answer = await ask(leaving.signal);
      yield* eventsOf(answer, read);
    } catch (error) {
      if (error !== leave) throw error;
    } finally {
      unfollow();
      answer?.end();
    }
  }
  const events = readAll();
  const leaveAtNextEvent = events.return.bind(events);
  // A generator's own `return` waits for its pending read.
  events.return = () => {
    leave();
    return leaveAtNextEvent();
  };
  return events;
}

/** Parses an event: whether it is the last, and its value; null for an unknown kind. Throws an error event's failure. */
type ReadEvent<E> = (
  sent: SentEvent,
  answer: Answer,
) => { readonly value: E; readonly isLast: boolean } | null;

async function* eventsOf<E>(answer: Answer, read: ReadEvent<E>): AsyncGenerator<E, void, void> {
  if (!answer.mediaType.startsWith("text/event-stream")) {
    throw answer.failure("invalid_response", "the answer is not an event stream: check baseUrl");
  }
  for await (const sent of readEvents(answer.chunks())) {
    answer.leftBytes = MAX_BYTES;
    const event = read(sent, answer);
    if (event !== null) yield event.value;
    if (event?.isLast === true) return;
  }
  throw answer.failure("connection_error", BROKEN_OFF);
}

const eventOf: ReadEvent<StreamEvent> = ({ event, data }, answer) => {
  if (!/^(meta|audio|end|error)$/.test(event)) return null;
  return readObject(data, answer, (sent) => {
    if (event === "error") throw answer.failure(sent.type, sent.message);
    const pcm = event === "audio" ? { pcm: pcmOf(sent.pcm_b64) } : {};
    return { value: { event, data: sent, ...pcm } as unknown as StreamEvent, isLast: event === "end" };
  });
};

const dialogueEventOf: ReadEvent<DialogueEvent> = ({ data }, answer) =>
  readObject(data, answer, (sent) => {
    if (sent.error !== undefined) throw answer.failure(sent.error.type, sent.error.message);
    if (!/^(dialogue\.started|speech\.audio\.(delta|done))$/.test(sent.type)) return null;
    return { value: sent as unknown as DialogueEvent, isLast: sent.type.endsWith("done") };
  });

interface SentData {
  readonly type: AntiphonErrorType;
  readonly message: string;
  readonly pcm_b64: string;
  readonly error?: { readonly type: AntiphonErrorType; readonly message: string };
}

/** Reads the object of an event. What is none, or does not hold what it should, is an invalid response. */
function readObject<T>(data: string, { failure }: Answer, read: (sent: SentData) => T): T {
  try {
    const value = JSON.parse(data);
    if (Object(value) !== value) throw new TypeError("the event is no object");
    return read(value);
  } catch (cause) {
    if (cause instanceof AntiphonError) throw cause;
    throw failure("invalid_response", "an event of the reply cannot be read", { cause });
  }
}
