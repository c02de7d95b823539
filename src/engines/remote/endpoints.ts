import { setTimeout as sleep } from "node:timers/promises";
import type { Script } from "../../core/script.ts";
import { ConversationError, SpeechFailedError } from "../../core/speech-model.ts";
import { AttemptError, toAttemptError } from "./attempt-error.ts";
import type { Dialect, EndpointEvent, RemoteOptions } from "./dialect.ts";
import { type Connections, createConnections, type HttpCall, HttpExchange } from "./http-exchange.ts";
import { type ReadSpeech, SpeechChunks } from "./speech-chunks.ts";

type EndpointsOptions = Pick<RemoteOptions, "name" | "urls" | "apiKey" | "firstSoundTimeoutMs" | "onEvent"> &
  Pick<Dialect, "route" | "accept">;

/** Attempts per endpoint, and the delay before the second. */
const ROUNDS = 2;
const ROUND_WAIT_MS = 250;
/** A failed endpoint is tried last for so long. */
const DEPRIORITISED_MS = 5_000;
/** Cap on the delay that an endpoint asks for. */
const MAX_UNAVAILABLE_MS = 60_000;

type TraceHeaders = NonNullable<Script["traceHeaders"]>;

interface Endpoint {
  readonly url: URL;
  open: number;
  /** Steady clock; until then it is tried after the others. */
  deprioritisedUntilMs: number;
  /** Steady clock; until then it is not tried. */
  unavailableUntilMs: number;
  problem: string | null;
}

/**
 * Equivalent endpoints. Tries the one with the fewest open requests first; if it fails before its first audio, tries
 * the others, and then all of them once more. Never retries after the first audio, since that has been played.
 */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #connections: Connections = createConnections();
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
   * Sends a request and resolves with its first audio. Throws {@link SpeechFailedError} if all attempts fail, {@link
   * ConversationError} of the reader, or the signal's reason, which also ends the response.
   *
   * @param body JSON in chunks
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
        // Reserve time for the remaining endpoints.
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
    if (failures.length === 0) failures.push("every endpoint has asked to wait");
    throw this.#speechError(failures, restMs > 0 ? restMs : null);
  }

  /** Converts an error after the first audio. */
  toSpeechError(thrown: unknown, sounds: SpeechChunks): SpeechFailedError {
    const error = toAttemptError(thrown, true);
    const endpoint = this.#endpointOf.get(sounds);
    if (endpoint === undefined) return this.#speechError([error.message]);
    this.#recordFailure(endpoint, error);
    return this.#speechError([`${endpoint.url.host} ${error.message}`]);
  }

  close(): void {
    this.#connections.plain.destroy();
    this.#connections.tls.destroy();
  }

  /** Makes one attempt. Returns the response, or its failure. Throws the signal's reason. */
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
        // The request is at fault, not the endpoint.
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
      `sent no audio in time (firstSoundTimeoutMs, ${firstSoundTimeoutMs} ms for all tries)`,
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
        // Pacing is unnecessary here: requests are already limited to what the clients may have.
        "X-Antiphon-Pace": "own",
        ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
      },
    };
  }

  /** Returns the endpoints to try in order: recently failed ones last, the others by open requests. */
  #available(): Endpoint[] {
    const now = nowMs();
    const isDoubted = ({ deprioritisedUntilMs }: Endpoint) => Number(deprioritisedUntilMs > now);
    return this.#endpoints
      .filter(({ unavailableUntilMs }) => unavailableUntilMs <= now)
      .sort((a, b) => isDoubted(a) - isDoubted(b) || a.open - b.open);
  }

  /** Waits before the next round. Returns whether there is time for it. */
  async #pause(untilMs: number, signal: AbortSignal): Promise<boolean> {
    const now = nowMs();
    const soonestMs = Math.min(...this.#endpoints.map(({ unavailableUntilMs }) => unavailableUntilMs)) - now;
    // Timers may fire slightly early.
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

/** Retry delay if the operator must fix the settings. */
const PERMANENT_RETRY_MS = 60_000;

function nowMs(): number {
  return performance.now();
}
