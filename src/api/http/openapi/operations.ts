import type { Json } from "./components.ts";
import { failures, json, PAGE, success, unchanged } from "./responses.ts";

export interface Generation {
  /** Absent: it has none, and needs no examples. */
  readonly body?: Json;
  readonly examples?: Json;
  readonly content: Json;
  /** What is said of the reply, beyond that it succeeded. */
  readonly description?: string;
  /** Headers that the reply may have beside those of every response. */
  readonly headers?: readonly string[];
  /** Of the body; JSON unless told. */
  readonly mediaType?: string;
  /** Of the path and its query. */
  readonly parameters?: readonly Json[];
}

/** A call that synthesises or recognises speech. */
export function generation(id: string, summary: string, parts: Generation): Json {
  const { body, examples, content, description, headers, mediaType = "application/json", parameters } = parts;
  return {
    operationId: id,
    summary,
    tags: ["speech"],
    ...(parameters === undefined ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [mediaType]: { schema: body, examples } } } }),
    responses: { 200: success(content, description, headers), ...failures([400, 401, 422, 429, 500, 502]) },
  };
}

/** A question that needs a key. */
export function query(id: string, summary: string, schema: Json): Json {
  return {
    operationId: id,
    summary,
    tags: ["queries"],
    responses: { 200: success(json(schema)), ...failures([401, 429, 500, 502]) },
  };
}

/** A list that can be read without a key, unless the server's setting `keylessLists` says otherwise. */
export function list(id: string, summary: string, schema: Json): Json {
  return { ...query(id, summary, schema), security: [{}, { bearer: [] }, { apiKey: [] }] };
}

/** A question about one thing, which needs a key: 404 where there is no such thing. */
export function lookUp(id: string, summary: string, schema: Json, parameter: Json): Json {
  const operation = query(id, summary, schema);
  return {
    ...operation,
    parameters: [parameter],
    responses: { ...(operation.responses as Json), ...failures([404]) },
  };
}

/** A question that anybody may ask. */
export function open(id: string, summary: string, content: Json): Json {
  return {
    operationId: id,
    summary,
    tags: ["operations"],
    security: [],
    responses: { 200: success(content), ...failures([500]) },
  };
}

/** A probe: 200, or 502 while the server is not ready. */
export function probe(id: string, summary: string, content: Json): Json {
  const operation = open(id, summary, content);
  return { ...operation, responses: { ...(operation.responses as Json), ...failures([502]) } };
}

/** A page. */
export function page(id: string, summary: string): Json {
  const content = { "text/html": { schema: { type: "string" } } };
  const responses = { 200: success(content, undefined, PAGE), 304: unchanged(PAGE), ...failures([500]) };
  return { operationId: id, summary, tags: ["operations"], security: [], responses };
}

/** An open path that the server's settings can take away: 404. */
export function switchable(operation: Json): Json {
  return { ...operation, responses: { ...(operation.responses as Json), ...failures([404]) } };
}
