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

/** What all protocols need to serve requests. */
export interface RequestDeps {
  readonly service: SpeechService;
  readonly transcriptions: Transcriptions;
  readonly requestReader: RequestReader;
  readonly tenancy: Tenancy;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface BeginOptions extends AdmitOptions {
  /** The route in metrics, logs and traces, such as `wyoming:synthesize`. */
  readonly route: string;
  /** Returns the key that pays. Throws a `ServiceError` if it is no longer valid. */
  readonly findKey: () => Promise<Key>;
  readonly signal: AbortSignal;
}

/**
 * Begins a request on a long-lived connection. Each takes a token, is logged and counted, and ends by {@link
 * RequestContext.end}. Throws the error for the client if it is refused; the request has then ended.
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

export interface AdmitOptions {
  /** Whether it speaks, so that a full speech queue refuses it. */
  readonly speaks: boolean;
  /** The error message if the key has no token left. */
  readonly overRate: string;
  /** Called with the state of the key's bucket. */
  readonly onReading?: (reading: BucketReading) => void;
}

/**
 * Takes a token of the key, and checks that there is room for another request. @throws ServiceError 429 or 502, with
 * the time after which to retry
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
 * Returns the key that a client presents (`null`: none). A failure draws from the bucket of the client's address.
 *
 * @param options `onReading` receives the state of that bucket after a failure; `missing` is the 401 message without
 * a key @throws ServiceError 401 if the key is invalid, 429 if the address has failed too often
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
