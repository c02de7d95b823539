import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceError } from "../contract/errors.ts";
import type { Holding } from "../serving/fair-share.ts";
import { NO_SPAN, type Span } from "../tracing/span.ts";
import { ClientGoneError } from "./client-gone-error.ts";

/**
 * How a request ended: `finished` its whole answer was taken, `failed` that answer was, or ended in, an error, `left` its
 * client went before.
 */
export type Ending = "finished" | "failed" | "left";

/** A body on its way. */
export interface Receiving {
  readonly sinceMs: number;
  /** Whether its memory is counted, so that others may wait for it. */
  readonly isCounted: boolean;
  bytes: number;
}

/** A request from its headers to its one end. */
export class RequestLife {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Milliseconds of the process's steady clock. */
  readonly beganMs = performance.now();
  readonly #gone = new AbortController();
  readonly #onEnd: (ending: Ending) => void;
  readonly #held: Pick<Holding, "release">[] = [];
  #ending: Ending | null = null;
  #failure: ServiceError | null = null;
  /** Its body, while the client is to send more of it. */
  receiving: Receiving | null = null;
  /** What a trace tells of it. */
  span: Span = NO_SPAN;
  /** The status that was sent where Node's own response was passed by. */
  rawStatus: number | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, onEnd: (ending: Ending) => void) {
    this.request = request;
    this.response = response;
    this.#onEnd = onEnd;
    response.once("finish", () => this.answered());
  }

  /** Aborts with a {@link ClientGoneError} when the client goes before its answer is complete. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** `null` while it lasts. */
  get ending(): Ending | null {
    return this.#ending;
  }

  /** What it was answered with, or why its client was let go; `null` where nothing went wrong. */
  get failure(): ServiceError | null {
    return this.#failure;
  }

  /** Why the client has gone, where it has. */
  get goneBecause(): string | null {
    return this.#gone.signal.aborted ? (this.#gone.signal.reason as Error).message : null;
  }

  /** It is answered with an error. Of several the first counts. */
  fail(error: ServiceError): void {
    this.#failure ??= error;
  }

  /** Its whole answer is out, although its connection may have something left to do. */
  answered(): void {
    this.#end(this.#failure === null ? "finished" : "failed");
  }

  /** Ends it with an error that its client cannot be told, because it takes nothing. */
  cut(error: ServiceError): void {
    this.fail(error);
    this.leave(error.message);
    this.request.socket.destroy();
  }

  /** Released when it ends; at once, when it has. */
  keep(holding: Pick<Holding, "release">): void {
    if (this.#ending === null) this.#held.push(holding);
    else holding.release();
  }

  /** The client went, or is let go. */
  leave(why: string): void {
    if (this.#ending !== null) return;
    this.#gone.abort(new ClientGoneError(why));
    // What was cut because of a failure that could not be told otherwise has failed.
    this.#end(this.#failure === null ? "left" : "failed");
  }

  #end(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.receiving = null;
    for (const holding of this.#held.splice(0)) holding.release();
    this.#onEnd(ending);
  }
}
