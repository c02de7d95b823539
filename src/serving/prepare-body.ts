import { parseJsonBody } from "../contract/json-body.ts";
import { parseConverseRequest, parseTtsRequest } from "../contract/validate.ts";
import { type Prepared, prepareConverse, prepareTts, type ResolveModel } from "./prepare.ts";

/** What a body is meant for. */
export type Purpose = "tts" | "converse";

/** From the bytes of a body to a request that has been checked in full. Throws a 422 or 400 `ServiceError`. */
export function prepareBody(purpose: Purpose, body: Uint8Array, resolve: ResolveModel): Prepared {
  const json = parseJsonBody(body);
  return purpose === "tts"
    ? prepareTts(parseTtsRequest(json), resolve)
    : prepareConverse(parseConverseRequest(json), resolve);
}
