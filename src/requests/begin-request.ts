import type { Logger } from "pino";
import type { Key, Tenancy } from "../accounts/tenancy.ts";
import { beginServerSpan } from "../core/span.ts";
import type { RequestReader } from "../serving/prepare/request-reader.ts";
import type { SpeechService } from "../serving/reply/speech-service.ts";
import type { Transcriptions } from "../serving/transcribe/transcriptions.ts";
import { type AdmitOptions, admit } from "./admit.ts";
import type { Metrics } from "./metrics.ts";
import { RequestContext } from "./request-context.ts";
import { recordEnd } from "./request-log.ts";

/** What every entrance serves its clients by, whatever protocol they speak. */
export interface Entrance {
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
  entrance: Omit<Entrance, "transcriptions" | "requestReader">,
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
