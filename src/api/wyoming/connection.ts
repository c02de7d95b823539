import { ServiceError } from "../../contract/errors.ts";
import type { EventBudget } from "../../limits/event-loop-budget.ts";
import { ClientGoneError, type RequestContext } from "../../requests/request-context.ts";
import { knownServiceError, toServiceError } from "../../serving/service-errors.ts";
import type { EventSocket } from "./event-socket.ts";
import type { ConnectionActivity } from "./eviction.ts";
import { beginWyomingRequest, type WyomingDeps, type WyomingKind } from "./requests.ts";
import {
  prepareSynthesize,
  prepareSynthesizeStream,
  requiredText,
  type SpeechClient,
  SynthesizeStream,
  sendSpeech,
} from "./synthesize.ts";
import { languageOf, Recording } from "./transcribe.ts";
import {
  encodeEvent,
  pointsOfAudio,
  pointsOfText,
  pointsOutside,
  type ReceivedEvent,
  type WyomingEvent,
  wyomingEvent,
} from "./wyoming-event.ts";

/**
 * One client. Handles its events in order, one request at a time, until it leaves or an event fails.
 *
 * A failure is sent as `error` and ends the connection, since clients wait for answers, not for errors. Only a stream
 * has an end of its own, `synthesize-stopped`, after which the connection continues.
 *
 * Work outside requests draws from a budget. A connection over its budget is not refused, but not read for a while.
 */
export class WyomingConnection {
  readonly #socket: EventSocket;
  readonly #deps: WyomingDeps;
  readonly #info: () => Promise<Uint8Array>;
  readonly #budget: EventBudget;
  readonly #client: SpeechClient;
  #stream: SynthesizeStream | null = null;
  #recording: Recording | null = null;
  /** Options of the last `transcribe` until it is answered. */
  #asked: { readonly language: string | null } | null = null;
  /**
   * Whether a request begins, is served or waits for memory. Streams, which are served concurrently, do not count.
   */
  #isServing = false;
  #isOverBudget = false;
  /** Whether the current event had to wait for the budget, and whether any event had. */
  #isSlowed = false;
  #hasBeenSlowed = false;
  /** Points charged if the current event begins a request that is refused. */
  #refusalPoints = 0;
  #isLast = false;

  /** @param info returns the encoded answer to `describe` */
  constructor(socket: EventSocket, deps: WyomingDeps, info: () => Promise<Uint8Array>, budget: EventBudget) {
    this.#socket = socket;
    this.#deps = deps;
    this.#info = info;
    this.#budget = budget;
    this.#client = {
      send: async (event) => {
        socket.isWorking = false;
        await socket.send(event);
        socket.isWorking = true;
      },
      cut: (reason) => socket.cut(reason.message),
    };
  }

  get activity(): ConnectionActivity {
    if (this.#isOverBudget) return { is: "unasked" };
    if (this.#isServing) return { is: "served" };
    if (this.#recording !== null) return this.#recording.activity(this.#socket.waitingBytes);
    if (this.#stream?.isOver === false) return this.#stream.activity;
    return { is: this.#socket.hasPartialEvent ? "unasked" : "idle" };
  }

  get isWaitingForRoom(): boolean {
    return this.#recording?.isWaiting === true;
  }

  get holdsRoom(): boolean {
    return this.#recording?.holdsRoom === true;
  }

  /** Records how much of the current recording has arrived. Call it at least once a second. */
  noteProgress(): void {
    this.#recording?.noteProgress(this.#socket.waitingBytes);
  }

  finish(): void {
    this.#isLast = true;
    if (this.#isOverBudget || this.activity.is === "idle") this.#socket.stopReceiving();
  }

  /** Resolves when the connection is closed. Never rejects. */
  async run(): Promise<void> {
    const socket = this.#socket;
    try {
      for (let event = await this.#next(); event !== null; event = await this.#next()) {
        await this.#handle(event);
        this.#deps.onEvent(this.#isSlowed ? "slowed" : "taken");
        if (this.#isLast && this.activity.is === "idle") break;
      }
      await this.#endRequests(socket.signal.reason ?? new ClientGoneError("it closed the connection"));
    } catch (error) {
      if (!(error instanceof ClientGoneError)) this.#deps.onEvent("refused");
      await this.#endRequests(error);
      await this.#sendError(error).catch(() => {});
    }
    socket.close();
    await socket.closed;
  }

  /** Returns the next event once the budget allows; `null` at the end. */
  async #next(): Promise<ReceivedEvent | null> {
    const { waitMs } = this.#budget;
    this.#isSlowed = waitMs > 0;
    if (this.#isSlowed) await this.#pauseOverBudget(waitMs);
    const event = this.#isSlowed && this.#isLast ? null : await this.#socket.receive();
    if (event !== null) this.#budget.spend(this.#pointsOf(event));
    return event;
  }

  async #pauseOverBudget(waitMs: number): Promise<void> {
    if (!this.#hasBeenSlowed) this.#deps.onSlowed();
    this.#hasBeenSlowed = true;
    this.#isOverBudget = true;
    await this.#socket.pauseReading(waitMs);
    this.#isOverBudget = false;
  }

  /**
   * Returns the points of an event. An event that begins a request costs a token of the key, or points if it is
   * refused.
   */
  #pointsOf(event: ReceivedEvent): number {
    const outside = pointsOutside(event);
    this.#refusalPoints = outside;
    switch (event.type) {
      case "synthesize":
        return this.#stream === null ? 0 : outside;
      case "synthesize-start":
      case "audio-start":
        return 0;
      case "synthesize-chunk":
        return this.#stream === null
          ? outside
          : pointsOfText(event, this.#stream.countSpeakable(event.data.text));
      case "audio-chunk":
        return this.#recording === null ? 0 : pointsOfAudio(event);
      default:
        return outside;
    }
  }

  async #handle(event: WyomingEvent): Promise<void> {
    const { type, data, payload } = event;
    switch (type) {
      case "describe":
        return await this.#answer(await this.#info());
      case "ping":
        return await this.#answer(encodeEvent(wyomingEvent("pong", { text: pingText(data) })));
      case "synthesize":
        // Streaming clients repeat the whole text, for servers without streaming.
        return this.#stream === null ? await this.#serve(() => this.#synthesize(data)) : undefined;
      case "synthesize-start":
        return this.#startStream(data);
      case "synthesize-chunk":
        return this.#openStream.push(requiredText(data));
      case "synthesize-stop":
        return await this.#stopStream();
      case "transcribe":
        this.#asked = { language: languageOf(data) };
        return;
      case "audio-start":
        return await this.#serve(() => this.#startRecording(data));
      case "audio-chunk":
        if (this.#recording === null) await this.#serve(() => this.#startRecording(data));
        await this.#serve(async () => this.#recording?.add(payload ?? NO_SAMPLES));
        return this.noteProgress();
      case "audio-stop":
        return await this.#serve(() => this.#transcribe());
    }
  }

  /** Runs `work` with the connection marked as served, so that it is not evicted meanwhile. */
  async #serve(work: () => Promise<void>): Promise<void> {
    this.#isServing = true;
    try {
      await work();
    } finally {
      this.#isServing = false;
    }
  }

  async #answer(bytes: Uint8Array): Promise<void> {
    this.#budget.spend(bytes.length);
    await this.#socket.sendBytes(bytes);
  }

  /** Begins a request with a token of the key. A refusal is charged to the budget. */
  async #beginRequest(kind: WyomingKind): Promise<RequestContext> {
    const refusalPoints = this.#refusalPoints;
    try {
      return await beginWyomingRequest(this.#deps, kind, this.#socket.signal);
    } catch (error) {
      this.#budget.spend(refusalPoints);
      throw error;
    }
  }

  async #synthesize(data: WyomingEvent["data"]): Promise<void> {
    const request = await this.#beginRequest("synthesize");
    await this.#runRequest(request, () =>
      sendSpeech(this.#client, this.#deps, prepareSynthesize(data, this.#deps), request.caller),
    );
  }

  #startStream(data: WyomingEvent["data"]): void {
    if (this.#stream?.isOver === false) {
      throw new ServiceError(
        400,
        "a stream is open already: send synthesize-stop before the next synthesize-start",
      );
    }
    this.#stream = new SynthesizeStream((stream) => this.#synthesizeStream(data, stream));
    // The client may never send `synthesize-stop`.
    void this.#stream.speaking.then(() => {
      if (this.#isLast) this.#socket.stopReceiving();
    });
  }

  async #synthesizeStream(data: WyomingEvent["data"], stream: SynthesizeStream): Promise<void> {
    const { words } = stream;
    const client: SpeechClient = {
      ...this.#client,
      send: (event) => stream.sent(this.#client.send(event)),
    };
    try {
      const request = await this.#beginRequest("synthesize");
      await this.#runRequest(request, async () => {
        const prepared = prepareSynthesizeStream(data, this.#deps);
        await sendSpeech(client, this.#deps, prepared, request.caller, words).catch((error: unknown) => {
          // A text without words is no error: a reply may be empty.
          if (!words.isBlank) throw error;
        });
      });
    } catch (error) {
      // Later words of the text are dropped.
      words.release();
      await this.#sendError(error).catch(() => {});
    }
    await this.#socket.send(wyomingEvent("synthesize-stopped")).catch(() => {});
  }

  async #stopStream(): Promise<void> {
    await this.#openStream.end();
    this.#stream = null;
  }

  get #openStream(): SynthesizeStream {
    if (this.#stream !== null) return this.#stream;
    throw new ServiceError(400, "no stream is open: send synthesize-start first");
  }

  async #startRecording(data: WyomingEvent["data"]): Promise<void> {
    if (this.#recording !== null) {
      throw new ServiceError(400, "a recording is open already: send audio-stop before the next audio-start");
    }
    const refusal = this.#deps.transcriptions.refusal("transcribe");
    if (refusal !== null) throw refusal;
    const request = await this.#beginRequest("transcribe");
    try {
      this.#recording = new Recording(data, request, this.#deps);
    } catch (error) {
      throw request.end(error) ?? error;
    }
  }

  async #transcribe(): Promise<void> {
    const recording = this.#recording;
    const asked = this.#asked;
    if (recording === null) {
      if (asked === null) return;
      throw new ServiceError(
        400,
        "there is no recording: send audio-start and audio-chunk before audio-stop",
      );
    }
    await this.#runRequest(recording.request, async () => {
      await this.#client.send(await recording.transcribe(asked?.language ?? null));
    });
    this.#recording = null;
    this.#asked = null;
  }

  async #runRequest(request: RequestContext, work: () => Promise<void>): Promise<void> {
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

  async #endRequests(reason: unknown): Promise<void> {
    this.#recording?.request.end(reason);
    this.#recording = null;
    this.#stream?.words.fail(reason);
    await this.#stream?.speaking;
    this.#stream = null;
  }

  async #sendError(error: unknown): Promise<void> {
    if (error instanceof ClientGoneError) return;
    if (knownServiceError(error) === null) this.#deps.onFailure(error);
    const { message, type } = toServiceError(error);
    await this.#socket.send(wyomingEvent("error", { text: message, code: type }));
  }
}

const NO_SAMPLES = new Uint8Array(0);

function pingText({ text }: WyomingEvent["data"]): string | null {
  if (text === undefined || text === null || typeof text === "string") return text ?? null;
  throw new ServiceError(422, "text must be a string, or be left out");
}
