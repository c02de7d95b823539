import type { Logger } from "pino";
import type { BucketReading, Key, Tenancy } from "../accounts/tenancy.ts";
import { ServiceError } from "../contract/errors.ts";
import { beginServerSpan } from "../core/span.ts";
import { rateLimitError } from "../limits/capacity-errors.ts";
import type { RequestReader } from "../serving/prepare/request-reader.ts";
import type { SpeechService } from "../serving/reply/speech-service.ts";
import type { Transcriptions } from "../serving/transcribe/transcriptions.ts";
import type { Metrics } from "./metrics.ts";
import { RequestContext, recordEnd } from "./request-context.ts";

/** What every entrance serves its clients by, whatever protocol they speak. */
export interface RequestDeps {
  readonly service: SpeechService;
  readonly transcriptions: Transcriptions;
  readonly requestReader: RequestReader;
  readonly tenancy: Tenancy;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface BeginOptions extends AdmitOptions {
  /** What metrics, log and trace call it: `wyoming:synthesize`. */
  readonly route: string;
  /** Finds the key that pays for it. Throws a `ServiceError` where it is not good any more. */
  readonly findKey: () => Promise<Key>;
  /** Aborts when the connection's client goes. */
  readonly signal: AbortSignal;
}

/**
 * Begins one of the requests that a long connection makes: each takes a token of its own, is one line in the log and one
 * count, and ends by {@link RequestContext.end}. Throws what the client is to be told; the request is over then.
 */
export async function beginRequest(
  entrance: Omit<RequestDeps, "transcriptions" | "requestReader">,
  { route, findKey, signal, ...options }: BeginOptions,
): Promise<RequestContext> {
  const context = new RequestContext((ending) => {
    recordEnd(entrance.logger, entrance.metrics, { context, ending, route, http: null });
  }, signal);
  context.span = beginServerSpan(route, {});
  try {
    const key = await findKey();
    context.keyId = key.keyId;
    await admit(key, entrance, options);
    return context;
  } catch (error) {
    throw context.end(error) ?? error;
  }
}

/** What a request is asked of before anything of it is read. */
export interface AdmitOptions {
  /** Whether it wants something spoken: a full queue for that refuses it. */
  readonly speaks: boolean;
  /** What its caller is told whose key has no token left. */
  readonly overRate: string;
  /** Is told what is left in the key's bucket. */
  readonly onReading?: (reading: BucketReading) => void;
}

/**
 * Takes one of a key's tokens, and asks whether there is room for one more request of it.
 *
 * @throws ServiceError 429 or 502, with the time after which to try again
 */
export async function admit(
  key: Key,
  { tenancy, service }: { tenancy: Pick<Tenancy, "take">; service: Pick<SpeechService, "refusalFor"> },
  { speaks, overRate: why, onReading = () => {} }: AdmitOptions,
): Promise<void> {
  const reading = await tenancy.take(key);
  onReading(reading);
  if (!reading.allowed) throw rateLimitError(reading, why);
  const refusal = speaks ? service.refusalFor(key.keyId) : null;
  if (refusal !== null) throw refusal;
}

/**
 * The key that a client presents, `null` being none. A failure draws from the bucket of the client's address.
 *
 * @param options `onReading` gets what is left in that bucket after a failure; `missing` is the 401 message without a key
 * @throws ServiceError 401 where the key is not good, 429 where the address has failed too often
 */
export async function authenticate(
  tenancy: Pick<Tenancy, "authenticate" | "takeAnonymous" | "explainKey">,
  presented: string | null,
  address: string,
  {
    onReading = () => {},
    missing = "the API key is missing: send it as Authorization: Bearer <API_KEY> or as X-API-Key",
  }: { readonly onReading?: (reading: BucketReading) => void; readonly missing?: string } = {},
): Promise<Key> {
  const key = presented === null ? null : await tenancy.authenticate(presented);
  if (key !== null) return key;
  const reading = tenancy.takeAnonymous(address);
  onReading(reading);
  if (!reading.allowed)
    throw rateLimitError(reading, "too many requests without a valid key from this address");
  throw new ServiceError(401, presented === null ? missing : tenancy.explainKey(presented));
}
