import { ServiceError } from "../../contract/errors.ts";
import type { Voice } from "../../contract/voices.ts";
import type { EventLoopShare } from "../../limits/event-loop-budget.ts";
import { beginRequest, type RequestDeps } from "../../requests/begin-request.ts";
import type { RequestContext } from "../../requests/request-context.ts";
import type { ResolveModel } from "../../serving/prepare/prepare.ts";

/** All that the bridge is given. */
export interface WyomingDeps extends RequestDeps {
  readonly resolve: ResolveModel;
  /** The key that everything is metered by: the protocol has none of its own. */
  readonly apiKey: string;
  /** What the recogniser calls itself; `null` where recordings cannot be heard, for now or at all. */
  readonly recogniserName: () => string | null;
  /** Voices that `describe` tells of: those of the default model, and those by recordings that the key may use. */
  readonly listVoices: () => Promise<readonly Voice[]>;
  /** The program's. */
  readonly version: string;
  /** Told of every event, once it is dealt with. */
  readonly onEvent: (outcome: EventOutcome) => void;
  /** Told once of a connection that asks for more than its budget, when it first has to wait. */
  readonly onSlowed: () => void;
  /** Told of what was thrown and is no refusal, where it was not a request's own work that threw it. */
  readonly onFailure: (error: unknown) => void;
  /** Shared with all other long connections of the process. */
  readonly eventLoopShare: EventLoopShare;
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

/**
 * Begins a request in the name of the bridge's key: looks that up, takes one of its tokens, and asks whether there is
 * room. Throws a {@link ServiceError}, as HTTP's requests do.
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

/** What is wrong with a bridge's key that was good when it was configured. */
export function keyIsGone(): ServiceError {
  return new ServiceError(
    401,
    "the key of the Wyoming bridge is unknown or was revoked: make one with `antiphon keys create`, put it into the file of wyomingKeyFile, and start the server again",
  );
}
