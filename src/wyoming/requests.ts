import { ServiceError } from "../contract/errors.ts";
import { knownRefusal, overRate } from "../serving/failures.ts";
import type { Holding } from "../serving/fair-share.ts";
import { endRequestSpan } from "../serving/in-span.ts";
import type { Intake, Requester } from "../serving/intake.ts";
import type { ResolveModel } from "../serving/prepare.ts";
import type { SpeechService } from "../serving/service.ts";
import type { Transcriptions } from "../serving/transcriptions.ts";
import type { Tenancy } from "../tenancy/tenancy.ts";
import { beginServerSpan } from "../tracing/span.ts";
import { ClientGoneError } from "./event-socket.ts";

/** All that the bridge is given. */
export interface WyomingDeps {
  readonly service: SpeechService;
  readonly transcriptions: Transcriptions;
  readonly intake: Intake;
  readonly tenancy: Tenancy;
  readonly resolve: ResolveModel;
  /** The key that everything is metered by: the protocol has none of its own. */
  readonly apiKey: string;
  /** What the recogniser calls itself; `null` where recordings cannot be heard, for now or at all. */
  readonly recogniserName: () => string | null;
  /** The program's. */
  readonly version: string;
  /** Told of every request, once, when it is over. */
  readonly onEnd: (end: WyomingEnd) => void;
  /** Told of every event, once it is dealt with. */
  readonly onEvent: (outcome: EventOutcome) => void;
  /** Told once of a connection that asks for more than its budget, when it first has to wait. */
  readonly onSlowed: () => void;
  /** Told of what was thrown and is no refusal, where it was not a request's own work that threw it. */
  readonly onFailure: (error: unknown) => void;
  /** Longest that a connection may move no byte, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** Longest that a recording which holds room waits for more of it, in milliseconds. */
  readonly queueWaitMs: number;
}

/**
 * What became of an event: it was `taken`; or it was, but had to wait since its connection was over its budget (`slowed`);
 * or its connection was ended with an error (`refused`).
 */
export type EventOutcome = "taken" | "slowed" | "refused";

/** What a client may ask for that costs something. */
export type WyomingKind = "synthesize" | "transcribe";

/** How a request ended. Never what was said. */
export interface WyomingEnd {
  readonly kind: WyomingKind;
  readonly keyId: string | null;
  /** `null` where it was not traced. */
  readonly traceId: string | null;
  readonly ms: number;
  readonly ending: "finished" | "failed" | "left";
  /** Why its client has gone; `null` where it has not. */
  readonly leftBecause: string | null;
  /** `null` where nothing went wrong. */
  readonly failure: ServiceError | null;
}

/** A request from its first event to its one end. */
export interface WyomingRequest extends Requester {
  /** It is over: gives back what it holds. The first call counts. `error` absent is well; tells what went wrong. */
  end(error?: unknown): ServiceError | null;
}

/**
 * Begins a request in the name of the bridge's key: looks that up, takes one of its tokens, and asks whether there is
 * room. Throws a {@link ServiceError}, as HTTP's requests do.
 */
export async function beginRequest(
  deps: WyomingDeps,
  kind: WyomingKind,
  signal: AbortSignal,
): Promise<WyomingRequest> {
  const beganMs = performance.now();
  const span = beginServerSpan(`wyoming:${kind}`, {});
  const held: Pick<Holding, "release">[] = [];
  let keyId: string | null = null;
  let failure: ServiceError | null = null;
  let isOver = false;
  const end = (error?: unknown): ServiceError | null => {
    if (isOver) return failure;
    isOver = true;
    for (const holding of held.splice(0)) holding.release();
    const leftBecause = error instanceof ClientGoneError ? error.message : null;
    failure = error === undefined || leftBecause !== null ? null : asServiceError(error);
    const ending = leftBecause !== null ? "left" : failure === null ? "finished" : "failed";
    const ms = performance.now() - beganMs;
    deps.onEnd({ kind, keyId, traceId: span.traceId, ms, ending, leftBecause, failure });
    endRequestSpan(span, ending, failure);
    return failure;
  };
  try {
    const key = await deps.tenancy.authenticate(deps.apiKey);
    if (key === null) throw keyIsGone();
    keyId = key.keyId;
    const reading = await deps.tenancy.take(key);
    if (!reading.allowed) throw overRate(reading, "the bridge's key is over its rate limit");
    const refusal = kind === "synthesize" ? deps.service.refusalFor(keyId) : null;
    if (refusal !== null) throw refusal;
    return {
      keyId,
      signal,
      span,
      keep(holding) {
        if (isOver) holding.release();
        else held.push(holding);
      },
      end,
    };
  } catch (error) {
    throw end(error) ?? error;
  }
}

/** What is wrong with a bridge's key that was good when it was configured. */
export function keyIsGone(): ServiceError {
  return new ServiceError(
    401,
    "the key of the Wyoming bridge is unknown or was revoked: make one with `antiphon keys create`, put it into the file of wyomingKeyFile, and start the server again",
  );
}

/** What a client is told of whatever was thrown. */
export function asServiceError(error: unknown): ServiceError {
  const refusal = knownRefusal(error);
  if (refusal !== null) return refusal;
  return new ServiceError(500, "something went wrong in the server: its log says what", { cause: error });
}
