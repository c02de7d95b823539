import { setTimeout as sleep } from "node:timers/promises";
import type { Script } from "../../core/script.ts";
import { ConversationError, SpeechFailedError } from "../../core/speech-model.ts";
import { AttemptError, asAttemptError } from "./attempt-error.ts";
import type { Dialect, EndpointEvent, RemoteOptions } from "./dialect.ts";
import { type Call, type Connections, Exchange, keptConnections } from "./http-exchange.ts";
import { type ReadSpeech, SpeechChunks } from "./speech-chunks.ts";

type EndpointsOptions = Pick<RemoteOptions, "name" | "urls" | "apiKey" | "firstSoundTimeoutMs" | "onEvent"> &
  Pick<Dialect, "route" | "accept">;

/** How often each endpoint is tried, and how long is waited before the second time. */
const ROUNDS = 2;
const ROUND_WAIT_MS = 250;
/** An endpoint that failed is asked after the others for so long. */
const PASSED_OVER_MS = 5_000;
/** No endpoint is left alone for longer, whatever it asks for. */
const MAX_REST_MS = 60_000;

type TraceHeaders = NonNullable<Script["traceHeaders"]>;

interface Endpoint {
  readonly url: URL;
  /** Requests that are open. */
  open: number;
  /** Until then, in milliseconds of the steady clock, it is asked after the others. */
  passedOverUntilMs: number;
  /** Until then it wants to be left alone. */
  restsUntilMs: number;
  problem: string | null;
}

/**
 * Endpoints that are alike, for the same requests. The one with the fewest open requests is asked first; where it fails
 * before its first sound, the others are, and then all of them once more. After the first sound nothing is tried again:
 * somebody has heard it.
 */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #connections: Connections = keptConnections();
  /** Who speaks. */
  readonly #speaking = new WeakMap<SpeechChunks, Endpoint>();

  constructor(options: EndpointsOptions) {
    this.#options = options;
    this.#endpoints = options.urls.map((url) => ({
      url: new URL(url.replace(/\/+$/, "") + options.route),
      open: 0,
      passedOverUntilMs: 0,
      restsUntilMs: 0,
      problem: null,
    }));
  }

  /**
   * Sends a request and resolves when its first sound is there. Throws {@link SpeechFailedError} when none of the tries
   * came to that, a {@link ConversationError} that the reading throws, and the signal's reason, which also ends what it resolved with.
   *
   * @param body its JSON, in pieces
   */
  async begin(
    body: readonly Uint8Array[],
    read: ReadSpeech,
    signal: AbortSignal,
    traceHeaders: TraceHeaders = {},
  ): Promise<SpeechChunks> {
    signal.throwIfAborted();
    const untilMs = nowMs() + this.#options.firstSoundTimeoutMs;
    const failures: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0 && !(await this.#pause(untilMs, signal))) break;
      const order = this.#inOrder();
      for (const [index, endpoint] of order.entries()) {
        // One that is silent leaves time for the others.
        const ms = (untilMs - nowMs()) / (order.length - index);
        if (ms <= 0) break;
        const outcome = await this.#tried(
          this.#call(endpoint, body, traceHeaders),
          endpoint,
          read,
          ms,
          signal,
        );
        if (outcome instanceof SpeechChunks) return outcome;
        const said = `${endpoint.url.host} ${outcome.message}`;
        if (!failures.includes(said)) failures.push(said);
        if (!outcome.isPassing) throw this.#failed(failures, NOT_SOON_MS);
      }
    }
    const restMs = Math.min(...this.#endpoints.map(({ restsUntilMs }) => restsUntilMs)) - nowMs();
    if (failures.length === 0) failures.push("every endpoint wants to be left alone for now");
    throw this.#failed(failures, restMs > 0 ? restMs : null);
  }

  /** What a failure after the first sound is for whoever listens. */
  failed(thrown: unknown, sounds: SpeechChunks): SpeechFailedError {
    const error = asAttemptError(thrown, true);
    const endpoint = this.#speaking.get(sounds);
    if (endpoint === undefined) return this.#failed([error.message]);
    this.#note(endpoint, error);
    return this.#failed([`${endpoint.url.host} ${error.message}`]);
  }

  /** Lets its idle connections go. */
  close(): void {
    this.#connections.plain.destroy();
    this.#connections.tls.destroy();
  }

  /** One try, with its first sound; or how it failed. Throws the signal's reason. */
  async #tried(
    call: Call,
    endpoint: Endpoint,
    read: ReadSpeech,
    ms: number,
    signal: AbortSignal,
  ): Promise<SpeechChunks | AttemptError> {
    const untilMs = nowMs() + ms;
    for (let isFresh = false; ; isFresh = true) {
      const exchange = new Exchange(call, this.#connections, isFresh);
      const onAbort = () => exchange.fail(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      endpoint.open += 1;
      const sounds = new SpeechChunks(exchange, read, () => {
        endpoint.open -= 1;
        signal.removeEventListener("abort", onAbort);
      });
      try {
        await sounds.begin(untilMs - nowMs(), () => this.#late());
        this.#recovered(endpoint);
        this.#speaking.set(sounds, endpoint);
        return sounds;
      } catch (thrown) {
        sounds.close();
        signal.throwIfAborted();
        if (exchange.isStale && !isFresh) continue;
        // A request that asks for what there is not: nothing is wrong with the endpoint.
        if (thrown instanceof ConversationError) throw thrown;
        const error = asAttemptError(thrown, false);
        this.#note(endpoint, error);
        return error;
      }
    }
  }

  #late(): AttemptError {
    const { firstSoundTimeoutMs } = this.#options;
    return new AttemptError(
      `gave no sound in time (firstSoundTimeoutMs, ${firstSoundTimeoutMs} ms for all tries)`,
    );
  }

  #call({ url }: Endpoint, body: readonly Uint8Array[], traceHeaders: TraceHeaders): Call {
    const { apiKey, accept } = this.#options;
    return {
      method: "POST",
      url,
      body,
      headers: {
        ...traceHeaders,
        Accept: accept,
        "Content-Type": "application/json",
        "User-Agent": "antiphon",
        // Another Antiphon need not hold back what this one asks for: it asks for no more than its own clients may have.
        "X-Antiphon-Pace": "own",
        ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
      },
    };
  }

  /** Those that may be asked now. Those that failed lately come last; of the others, who has least to do comes first. */
  #inOrder(): Endpoint[] {
    const now = nowMs();
    const isDoubted = ({ passedOverUntilMs }: Endpoint) => Number(passedOverUntilMs > now);
    return this.#endpoints
      .filter(({ restsUntilMs }) => restsUntilMs <= now)
      .sort((a, b) => isDoubted(a) - isDoubted(b) || a.open - b.open);
  }

  /** Waits before everybody is asked again. Whether there is time for it. */
  async #pause(untilMs: number, signal: AbortSignal): Promise<boolean> {
    const now = nowMs();
    const soonestMs = Math.min(...this.#endpoints.map(({ restsUntilMs }) => restsUntilMs)) - now;
    // A timer may be a little early.
    const ms = Math.max(ROUND_WAIT_MS, Math.ceil(soonestMs) + 1);
    if (now + ms >= untilMs) return false;
    await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
    return true;
  }

  #note(endpoint: Endpoint, { message, waitMs, isPassing }: AttemptError): void {
    const now = nowMs();
    if (isPassing) endpoint.passedOverUntilMs = now + PASSED_OVER_MS;
    if (waitMs !== null) endpoint.restsUntilMs = now + Math.min(waitMs, MAX_REST_MS);
    if (endpoint.problem === message) return;
    endpoint.problem = message;
    this.#tell("failing", endpoint, message);
  }

  #recovered(endpoint: Endpoint): void {
    endpoint.passedOverUntilMs = 0;
    if (endpoint.problem === null) return;
    this.#tell("recovered", endpoint, endpoint.problem);
    endpoint.problem = null;
  }

  #tell(kind: EndpointEvent["kind"], { url }: Endpoint, problem: string): void {
    this.#options.onEvent?.({ kind, checkpoint: this.#options.name, endpoint: url.host, problem });
  }

  #failed(failures: readonly string[], retryAfterMs: number | null = null): SpeechFailedError {
    const message = `${this.#options.name}: ${failures.join("; ")}`;
    return new SpeechFailedError(message, retryAfterMs === null ? {} : { retryAfterMs });
  }
}

/** Where only whoever runs the server can mend it. */
const NOT_SOON_MS = 60_000;

function nowMs(): number {
  return performance.now();
}
