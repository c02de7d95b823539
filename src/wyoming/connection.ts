import { ServiceError } from "../contract/errors.ts";
import { MAX_TEXT_CHARS } from "../contract/limits.ts";
import { StreamedText } from "../serving/streamed-text.ts";
import { eventOf, type WyomingEvent } from "./event.ts";
import { ClientGoneError, type EventSocket } from "./event-socket.ts";
import { infoEvent } from "./info.ts";
import { languageOf, Recording } from "./recording.ts";
import { asServiceError, beginRequest, type WyomingDeps, type WyomingRequest } from "./requests.ts";
import { prepareStream, prepareWhole, type SpeechClient, speakTo } from "./speech.ts";

/** Words that are spoken while they come. */
interface OpenStream {
  readonly words: StreamedText;
  /** Resolves when the client was told of its end. Never rejects. */
  readonly speaking: Promise<void>;
  /** Whether it was: its client may still be sending words, and the end of them. */
  isOver: boolean;
}

interface OpenRecording {
  readonly recording: Recording;
  readonly request: WyomingRequest;
}

/**
 * One client: takes its events in their order, one request at a time, until it goes or an event cannot be answered.
 *
 * A failure is an `error`. After it the connection ends, since clients wait for what they asked for and not for errors;
 * a stream alone has an end of its own, `synthesize-stopped`, and the connection goes on.
 */
export class Connection {
  readonly #socket: EventSocket;
  readonly #deps: WyomingDeps;
  readonly #client: SpeechClient;
  #stream: OpenStream | null = null;
  #recording: OpenRecording | null = null;
  /** The language that the next recording is in. */
  #language: string | null = null;
  #isHandling = false;
  #isLast = false;

  constructor(socket: EventSocket, deps: WyomingDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#client = {
      send: async (event) => {
        socket.isWorking = false;
        await socket.send(event);
        socket.isWorking = true;
      },
      cut: (reason) => socket.cut(reason.message),
    };
  }

  /** Whether nothing is being answered, or gathered to be answered. */
  get isUnasked(): boolean {
    return !this.#isHandling && this.#stream?.isOver !== false && this.#recording === null;
  }

  /** Whether nothing is being asked either: no event has begun to come. */
  get isIdle(): boolean {
    return this.isUnasked && !this.#socket.isInside;
  }

  /** Ends it once what it was asked is answered. */
  finish(): void {
    this.#isLast = true;
    if (this.isIdle) this.#socket.stopReceiving();
  }

  /** Resolves when the connection is closed. Never rejects. */
  async run(): Promise<void> {
    const socket = this.#socket;
    try {
      for (let event = await socket.receive(); event !== null; event = await socket.receive()) {
        this.#isHandling = true;
        await this.#handle(event);
        this.#isHandling = false;
        if (this.#isLast && this.isIdle) break;
      }
      await this.#leave(new ClientGoneError("it closed the connection"));
    } catch (error) {
      await this.#leave(error);
      await this.#tell(error).catch(() => {});
    }
    socket.close();
    await socket.closed;
  }

  async #handle(event: WyomingEvent): Promise<void> {
    const { type, data, payload } = event;
    switch (type) {
      case "describe": {
        const { version, recogniserName } = this.#deps;
        return await this.#socket.send(infoEvent({ version, recogniserName: recogniserName() }));
      }
      case "ping":
        return await this.#socket.send(eventOf("pong", { text: data.text ?? null }));
      case "synthesize":
        // Whoever streams sends all of it once more, for servers that cannot take streams.
        return this.#stream === null ? await this.#speak(data) : undefined;
      case "synthesize-start":
        return this.#startStream(data);
      case "synthesize-chunk":
        return this.#stream?.words.push(textOf(data));
      case "synthesize-stop":
        return await this.#stopStream();
      case "transcribe":
        this.#language = languageOf(data);
        return;
      case "audio-start":
        return await this.#startRecording(data);
      case "audio-chunk":
        if (this.#recording === null) await this.#startRecording(data);
        return await this.#recording?.recording.add(payload ?? NOTHING);
      case "audio-stop":
        return await this.#hear();
    }
  }

  async #speak(data: WyomingEvent["data"]): Promise<void> {
    const request = await beginRequest(this.#deps, "synthesize", this.#socket.signal);
    await this.#work(request, () =>
      speakTo(this.#client, this.#deps, prepareWhole(data, this.#deps), request),
    );
  }

  #startStream(data: WyomingEvent["data"]): void {
    if (this.#stream?.isOver === false) {
      throw new ServiceError(
        400,
        "a stream is open already: send synthesize-stop before the next synthesize-start",
      );
    }
    const words = new StreamedText(MAX_TEXT_CHARS);
    const speaking = this.#speakStream(data, words).then(() => {
      stream.isOver = true;
      // Its client may never say that it has ended.
      if (this.#isLast) this.#socket.stopReceiving();
    });
    const stream: OpenStream = { words, speaking, isOver: false };
    this.#stream = stream;
  }

  async #speakStream(data: WyomingEvent["data"], words: StreamedText): Promise<void> {
    try {
      const request = await beginRequest(this.#deps, "synthesize", this.#socket.signal);
      await this.#work(request, async () => {
        const prepared = prepareStream(data, this.#deps);
        await speakTo(this.#client, this.#deps, prepared, request, words).catch((error: unknown) => {
          // No words are no fault: a reply may have been empty.
          if (!words.isBlank) throw error;
        });
      });
    } catch (error) {
      // What still comes of it is nobody's.
      words.release();
      await this.#tell(error).catch(() => {});
    }
    await this.#socket.send(eventOf("synthesize-stopped")).catch(() => {});
  }

  async #stopStream(): Promise<void> {
    this.#stream?.words.end();
    await this.#stream?.speaking;
    this.#stream = null;
  }

  async #startRecording(data: WyomingEvent["data"]): Promise<void> {
    if (this.#recording !== null) {
      throw new ServiceError(400, "a recording is open already: send audio-stop before the next audio-start");
    }
    if (this.#deps.recogniserName() === null) {
      throw new ServiceError(502, "recordings cannot be heard here: run `antiphon models pull recogniser`", {
        retryAfterMs: 60_000,
      });
    }
    const request = await beginRequest(this.#deps, "transcribe", this.#socket.signal);
    try {
      this.#recording = { recording: new Recording(data, request, this.#deps), request };
    } catch (error) {
      throw request.end(error) ?? error;
    }
  }

  async #hear(): Promise<void> {
    if (this.#recording === null) return;
    const { recording, request } = this.#recording;
    const language = this.#language;
    await this.#work(request, async () => {
      await this.#client.send(await recording.transcribe(language));
    });
    this.#recording = null;
    this.#language = null;
  }

  /** Does what a request asks for, and ends it. Throws what its client is to be told. */
  async #work(request: WyomingRequest, work: () => Promise<void>): Promise<void> {
    this.#socket.isWorking = true;
    try {
      await work();
      request.end();
    } catch (error) {
      throw request.end(error) ?? error;
    } finally {
      this.#socket.isWorking = false;
    }
  }

  /** Ends what is under way. */
  async #leave(reason: unknown): Promise<void> {
    this.#recording?.request.end(reason);
    this.#recording = null;
    this.#stream?.words.fail(reason);
    await this.#stream?.speaking;
    this.#stream = null;
  }

  async #tell(error: unknown): Promise<void> {
    if (error instanceof ClientGoneError) return;
    const { message, type } = asServiceError(error);
    await this.#socket.send(eventOf("error", { text: message, code: type }));
  }
}

const NOTHING = new Uint8Array(0);

function textOf({ text }: WyomingEvent["data"]): string {
  if (typeof text === "string") return text;
  throw new ServiceError(422, "text is missing: send the words to speak, as a string");
}
