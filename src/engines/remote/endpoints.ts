import { setTimeout as sleep } from "node:timers/promises";
import type { Script } from "../../core/script.ts";
import { ConversationError, SpeechFailedError } from "../../core/speech-model.ts";
import { AttemptError, toAttemptError } from "./attempt-error.ts";
import type { Dialect, EndpointEvent, RemoteOptions } from "./dialect.ts";
import { type Connections, createConnections, type HttpCall, HttpExchange } from "./http-exchange.ts";
import { type ReadSpeech, SpeechChunks } from "./speech-chunks.ts";

type EndpointsOptions = Pick<RemoteOptions, "name" | "urls" | "apiKey" | "firstSoundTimeoutMs" | "onEvent"> &
  Pick<Dialect, "route" | "accept">;

/** How often each endpoint is tried, and how long is waited before the second time. */
const ROUNDS = 2;
const ROUND_WAIT_MS = 250;
/** An endpoint that failed is asked after the others for so long. */
const DEPRIORITISED_MS = 5_000;
/** No endpoint is left alone for longer, whatever it asks for. */
const MAX_UNAVAILABLE_MS = 60_000;

type TraceHeaders = NonNullable<Script["traceHeaders"]>;

interface Endpoint {
  readonly url: URL;
  /** Requests that are open. */
  open: number;
  /** Until then, in milliseconds of the steady clock, it is asked after the others. */
  deprioritisedUntilMs: number;
  /** Until then it wants to be left alone. */
  unavailableUntilMs: number;
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
  readonly #connections: Connections = createConnections();
  /** Who speaks. */
  readonly #endpointOf = new WeakMap<SpeechChunks, Endpoint>();

  constructor(options: EndpointsOptions) {
    this.#options = options;
    this.#endpoints = options.urls.map((url) => ({
      url: new URL(url.replace(/\/+$/, "") + options.route),
      open: 0,
      deprioritisedUntilMs: 0,
      unavailableUntilMs: 0,
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
      const order = this.#available();
      for (const [index, endpoint] of order.entries()) {
        // One that is silent leaves time for the others.
        const ms = (untilMs - nowMs()) / (order.length - index);
        if (ms <= 0) break;
        const outcome = await this.#attempt(
          this.#call(endpoint, body, traceHeaders),
          endpoint,
          read,
          ms,
          signal,
        );
        if (outcome instanceof SpeechChunks) return outcome;
        const said = `${endpoint.url.host} ${outcome.message}`;
        if (!failures.includes(said)) failures.push(said);
        if (!outcome.isTransient) throw this.#speechError(failures, PERMANENT_RETRY_MS);
      }
    }
    const restMs = Math.min(...this.#endpoints.map(({ unavailableUntilMs }) => unavailableUntilMs)) - nowMs();
    if (failures.length === 0) failures.push("every endpoint wants to be left alone for now");
    throw this.#speechError(failures, restMs > 0 ? restMs : null);
  }

  /** What a failure after the first sound is for whoever listens. */
  toSpeechError(thrown: unknown, sounds: SpeechChunks): SpeechFailedError {
    const error = toAttemptError(thrown, true);
    const endpoint = this.#endpointOf.get(sounds);
    if (endpoint === undefined) return this.#speechError([error.message]);
    this.#recordFailure(endpoint, error);
    return this.#speechError([`${endpoint.url.host} ${error.message}`]);
  }

  /** Lets its idle connections go. */
  close(): void {
    this.#connections.plain.destroy();
    this.#connections.tls.destroy();
  }

  /** One try, with its first sound; or how it failed. Throws the signal's reason. */
  async #attempt(
    call: HttpCall,
    endpoint: Endpoint,
    read: ReadSpeech,
    ms: number,
    signal: AbortSignal,
  ): Promise<SpeechChunks | AttemptError> {
    const untilMs = nowMs() + ms;
    for (let isFresh = false; ; isFresh = true) {
      const exchange = new HttpExchange(call, this.#connections, isFresh);
      const onAbort = () => exchange.fail(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      endpoint.open += 1;
      const sounds = new SpeechChunks(exchange, read, () => {
        endpoint.open -= 1;
        signal.removeEventListener("abort", onAbort);
      });
      try {
        await sounds.begin(untilMs - nowMs(), () => this.#timeoutError());
        this.#recordRecovery(endpoint);
        this.#endpointOf.set(sounds, endpoint);
        return sounds;
      } catch (thrown) {
        sounds.close();
        signal.throwIfAborted();
        if (exchange.isStale && !isFresh) continue;
        // A request that asks for what there is not: nothing is wrong with the endpoint.
        if (thrown instanceof ConversationError) throw thrown;
        const error = toAttemptError(thrown, false);
        this.#recordFailure(endpoint, error);
        return error;
      }
    }
  }

  #timeoutError(): AttemptError {
    const { firstSoundTimeoutMs } = this.#options;
    return new AttemptError(
      `gave no sound in time (firstSoundTimeoutMs, ${firstSoundTimeoutMs} ms for all tries)`,
    );
  }

  #call({ url }: Endpoint, body: readonly Uint8Array[], traceHeaders: TraceHeaders): HttpCall {
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
  #available(): Endpoint[] {
    const now = nowMs();
    const isDoubted = ({ deprioritisedUntilMs }: Endpoint) => Number(deprioritisedUntilMs > now);
    return this.#endpoints
      .filter(({ unavailableUntilMs }) => unavailableUntilMs <= now)
      .sort((a, b) => isDoubted(a) - isDoubted(b) || a.open - b.open);
  }

  /** Waits before everybody is asked again. Whether there is time for it. */
  async #pause(untilMs: number, signal: AbortSignal): Promise<boolean> {
    const now = nowMs();
    const soonestMs = Math.min(...this.#endpoints.map(({ unavailableUntilMs }) => unavailableUntilMs)) - now;
    // A timer may be a little early.
    const ms = Math.max(ROUND_WAIT_MS, Math.ceil(soonestMs) + 1);
    if (now + ms >= untilMs) return false;
    await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
    return true;
  }

  #recordFailure(endpoint: Endpoint, { message, waitMs, isTransient }: AttemptError): void {
    const now = nowMs();
    if (isTransient) endpoint.deprioritisedUntilMs = now + DEPRIORITISED_MS;
    if (waitMs !== null) endpoint.unavailableUntilMs = now + Math.min(waitMs, MAX_UNAVAILABLE_MS);
    if (endpoint.problem === message) return;
    endpoint.problem = message;
    this.#report("failing", endpoint, message);
  }

  #recordRecovery(endpoint: Endpoint): void {
    endpoint.deprioritisedUntilMs = 0;
    if (endpoint.problem === null) return;
    this.#report("recovered", endpoint, endpoint.problem);
    endpoint.problem = null;
  }

  #report(kind: EndpointEvent["kind"], { url }: Endpoint, problem: string): void {
    this.#options.onEvent?.({ kind, checkpoint: this.#options.name, endpoint: url.host, problem });
  }

  #speechError(failures: readonly string[], retryAfterMs: number | null = null): SpeechFailedError {
    const message = `${this.#options.name}: ${failures.join("; ")}`;
    return new SpeechFailedError(message, retryAfterMs === null ? {} : { retryAfterMs });
  }
}

/** Where only whoever runs the server can mend it. */
const PERMANENT_RETRY_MS = 60_000;

function nowMs(): number {
  return performance.now();
}
