import { ServiceError } from "../contract/errors.ts";
import { admit, asServiceError } from "../requests/admit.ts";
import { ClientGoneError } from "../requests/client-gone-error.ts";
import type { Metrics } from "../requests/metrics.ts";
import { RequestContext } from "../requests/request-context.ts";
import { type RequestLogger, recordEnd } from "../requests/request-log.ts";
import type { ResolveModel } from "../serving/prepare.ts";
import type { Requester, RequestReader } from "../serving/request-reader.ts";
import type { SpeechService } from "../serving/service.ts";
import type { Transcriptions } from "../serving/transcriptions.ts";
import type { Tenancy } from "../tenancy/tenancy.ts";
import { beginServerSpan } from "../tracing/span.ts";

/** All that the bridge is given. */
export interface WyomingDeps {
  readonly service: SpeechService;
  readonly transcriptions: Transcriptions;
  readonly requestReader: RequestReader;
  readonly tenancy: Tenancy;
  readonly resolve: ResolveModel;
  /** The key that everything is metered by: the protocol has none of its own. */
  readonly apiKey: string;
  /** What the recogniser calls itself; `null` where recordings cannot be heard, for now or at all. */
  readonly recogniserName: () => string | null;
  /** The program's. */
  readonly version: string;
  readonly metrics: Pick<Metrics, "ended">;
  readonly logger: RequestLogger;
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
  let keyId: string | null = null;
  const context = new RequestContext((ending) => {
    const route = `wyoming:${kind}`;
    recordEnd(deps.logger, deps.metrics, { context, ending, route, keyId, http: null });
  }, signal);
  context.span = beginServerSpan(`wyoming:${kind}`, {});
  const end = (error?: unknown): ServiceError | null => {
    if (error instanceof ClientGoneError) {
      context.leave(error.message);
    } else {
      if (error !== undefined) context.fail(asServiceError(error));
      context.answered();
    }
    return context.failure;
  };
  try {
    const key = await deps.tenancy.authenticate(deps.apiKey);
    if (key === null) throw keyIsGone();
    keyId = key.keyId;
    await admit(key, {
      ...deps,
      speaks: kind === "synthesize",
      overRate: "the bridge's key is over its rate limit",
    });
    return { keyId, signal, span: context.span, keep: (permit) => context.keep(permit), end };
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
