import { ServiceError } from "../../contract/errors.ts";
import type { Voice } from "../../contract/voices.ts";
import type { EventLoopShare } from "../../limits/event-loop-budget.ts";
import { beginRequest, type RequestDeps } from "../../requests/begin-request.ts";
import type { RequestContext } from "../../requests/request-context.ts";
import type { ResolveModel } from "../../serving/prepare/resolve-request.ts";

export interface WyomingDeps extends RequestDeps {
  readonly resolve: ResolveModel;
  /** Key that every request is metered by: the protocol has none of its own. */
  readonly apiKey: string;
  /** Returns the name of the recogniser, which may still load; `null` if there is none, or its weights are missing. */
  readonly recogniserName: () => Promise<string | null>;
  /** Lists the voices for `describe`: the default model's, and the recorded ones that the key may use. */
  readonly listVoices: () => Promise<readonly Voice[]>;
  readonly version: string;
  readonly onEvent: (outcome: EventOutcome) => void;
  /** Called once per connection, when it first exceeds its budget. */
  readonly onSlowed: () => void;
  /** Receives unexpected errors outside requests. */
  readonly onFailure: (error: unknown) => void;
  readonly eventLoopShare: EventLoopShare;
  /** Longest time in milliseconds without a byte. */
  readonly stallTimeoutMs: number;
  /** Longest wait in milliseconds of a recording that holds memory for more of it. */
  readonly queueWaitMs: number;
}

/**
 * Outcome of an event. `slowed`: it had to wait because its connection was over its budget. `refused`: it ended the
 * connection with an error.
 */
export type EventOutcome = "taken" | "slowed" | "refused";

export type WyomingKind = "synthesize" | "transcribe";

/**
 * Begins a request of the bridge's key: authenticates, takes a token and checks for room. Throws a {@link
 * ServiceError}, as HTTP requests do.
 */
export function beginWyomingRequest(
  deps: WyomingDeps,
  kind: WyomingKind,
  signal: AbortSignal,
): Promise<RequestContext> {
  return beginRequest(deps, {
    route: `wyoming:${kind}`,
    findKey: async () => {
      const key = await deps.tenancy.authenticate(deps.apiKey);
      if (key === null) throw keyIsGone();
      return key;
    },
    speaks: kind === "synthesize",
    overRate: "the bridge's key is over its rate limit",
    signal,
  });
}

/** Returns the error for a bridge key that was valid at startup. */
export function keyIsGone(): ServiceError {
  return new ServiceError(
    401,
    "the key of the Wyoming bridge is unknown or was revoked: make one with `antiphon keys create`, put it into the file of wyomingKeyFile, and start the server again",
  );
}
