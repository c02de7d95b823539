import type { TSchema } from "typebox";
import { ERROR_TYPES, type ErrorStatus } from "../../../contract/errors.ts";
import { ErrorEnvelope } from "../../../contract/replies.ts";
import { KEY_HEADERS, RATE_HEADERS, RETRY_HEADERS } from "../headers.ts";

export type Json = { [key: string]: unknown };

/** Returns a reference to a schema, after moving every titled schema in it to the document's components. */
export type Ref = (schema: TSchema | Json) => Json;

/** Returns a function that moves schemas to `schemas`. */
export function referencesInto(schemas: Json): Ref {
  return (schema) => moveTitled(schema, schemas) as Json;
}

/** Moves every titled schema in a value, at any depth, to `schemas`, and leaves a reference in its place. */
function moveTitled(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => moveTitled(item, schemas));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, child]) => [key, moveTitled(child, schemas)]);
  const node: Json = Object.fromEntries(entries);
  if (typeof node.title !== "string" || !("type" in node || "oneOf" in node)) return node;
  schemas[node.title] = node;
  return { $ref: `#/components/schemas/${node.title}` };
}

interface Kind {
  readonly tag: "speech" | "queries" | "operations";
  readonly failures: readonly ErrorStatus[];
  /** Default: a key. */
  readonly security?: readonly Json[];
}

const KINDS = {
  /** Synthesises or recognises speech. */
  speech: { tag: "speech", failures: [400, 401, 422, 429, 500, 502] },
  query: { tag: "queries", failures: [401, 429, 500, 502] },
  /** Needs no key, unless the setting `keylessLists` says otherwise. */
  list: {
    tag: "queries",
    failures: [400, 401, 429, 500, 502],
    security: [{}, { bearer: [] }, { apiKey: [] }],
  },
  lookUp: { tag: "queries", failures: [401, 404, 429, 500, 502] },
  open: { tag: "operations", failures: [500], security: [] },
  /** Open, unless a setting removes the path. */
  optional: { tag: "operations", failures: [404, 500], security: [] },
  probe: { tag: "operations", failures: [500, 502], security: [] },
  session: { tag: "speech", failures: [400, 401, 404, 429, 500, 502] },
  call: { tag: "speech", failures: [400, 401, 429, 500, 502], security: [] },
  stream: { tag: "speech", failures: [400, 401, 422, 429, 500, 502], security: [] },
} as const satisfies Readonly<Record<string, Kind>>;

export interface OperationParts {
  readonly about?: string;
  readonly parameters?: readonly Json[];
  readonly body?: Json;
  /** Media type of the body. Default: JSON. */
  readonly mediaType?: string;
  readonly examples?: Json;
  /** The 200 response: content by media type, description, and headers in addition to {@link ALWAYS}. */
  readonly content?: Json;
  readonly description?: string;
  readonly headers?: readonly string[];
  /** Further responses, or all of them if there is no `content`. */
  readonly responses?: Json;
}

export function operation(
  kind: keyof typeof KINDS,
  operationId: string,
  summary: string,
  parts: OperationParts,
): Json {
  const { tag, failures, security }: Kind = KINDS[kind];
  const { about, parameters, body, mediaType = "application/json", examples, content, responses } = parts;
  return {
    operationId,
    summary,
    tags: [tag],
    ...(about === undefined ? {} : { description: about }),
    ...(security === undefined ? {} : { security }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [mediaType]: { schema: body, examples } } } }),
    responses: {
      ...(content === undefined
        ? {}
        : { 200: response(parts.description ?? "Success", parts.headers, content) }),
      ...responses,
      ...Object.fromEntries(
        failures.map((status) => [status, { $ref: `#/components/responses/${FAILURES[status].name}` }]),
      ),
    },
  };
}

export function page(kind: "open" | "optional", operationId: string, summary: string): Json {
  const notModified = response("Not modified: the `ETag` is the one in `If-None-Match`", PAGE);
  const content = { "text/html": { schema: { type: "string" } } };
  return operation(kind, operationId, summary, { content, headers: PAGE, responses: { 304: notModified } });
}

/** Returns the operation of a WebSocket, whose messages OpenAPI cannot describe. */
export function webSocket(
  kind: "session" | "call" | "stream",
  operationId: string,
  summary: string,
  { ref, ...parts }: OperationParts & { readonly ref: Ref },
): Json {
  const upgrade = "Not a WebSocket: connect with an Upgrade header";
  const responses = {
    101: { description: "Switching to the WebSocket protocol" },
    426: response(upgrade, ["Upgrade"], json(ref(ErrorEnvelope))),
  };
  return operation(kind, operationId, summary, { ...parts, responses });
}

export function query(name: string, description: string, schema: Json = { type: "string" }): Json {
  return { name, in: "query", schema, description };
}

export function json(schema: Json): Json {
  return { "application/json": { schema } };
}

function response(description: string, headers: readonly string[] = [], content?: Json): Json {
  const all = [...ALWAYS, ...headers].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { description, headers: Object.fromEntries(all), ...(content === undefined ? {} : { content }) };
}

/** Returns the responses of all errors of the contract, by name. */
export function failureResponses(ref: Ref): Json {
  const schema = ref(ErrorEnvelope);
  return Object.fromEntries(
    Object.entries(FAILURES).map(([status, { name, description, headers, message }]) => {
      const type = ERROR_TYPES[Number(status) as ErrorStatus];
      const example = { error: { type, message, request_id: "req_5f0c8a1be2d34f9a7c61" } };
      return [name, response(description, headers, { "application/json": { schema, example } })];
    }),
  );
}

interface Failure {
  readonly name: string;
  readonly description: string;
  readonly headers?: readonly string[];
  readonly message: string;
}

const FAILURES: Readonly<Record<ErrorStatus, Failure>> = {
  400: {
    name: "InvalidRequest",
    description:
      "A limit exceeded, undecodable audio, an unknown model or language, or a broken rule about turns",
    message: "conversation[1].audio_wav_b64 is not allowed on the open turn",
  },
  401: {
    name: "AuthenticationError",
    description: "Missing or invalid API key",
    headers: ["WWW-Authenticate"],
    message: "the API key is missing: send it as Authorization: Bearer <API_KEY> or as X-API-Key",
  },
  404: {
    name: "NotFound",
    description: "No such path, or disabled in the server's settings",
    message: "no such path: see GET /openapi.json for those there are",
  },
  405: {
    name: "MethodNotAllowed",
    description: "The path does not support this method",
    headers: ["Allow"],
    message: "GET is not allowed here: use POST",
  },
  422: {
    name: "UnprocessableBody",
    description: "The body does not match its schema",
    message: "text is missing: it is a required field",
  },
  429: {
    name: "RateLimitExceeded",
    description: "Over the rate limit: retry after `Retry-After`",
    headers: RETRY_HEADERS,
    message: "this key is over its rate limit: retry in 2 seconds",
  },
  500: {
    name: "InternalError",
    description: "Unexpected failure",
    message: "something went wrong in the server: its log has the cause under the request id",
  },
  502: {
    name: "InferenceError",
    description: "The model failed or timed out: retry after `Retry-After`",
    headers: RETRY_HEADERS,
    message: "the server is at its capacity, the queue is full: retry in a moment",
  },
};

const optional = (description: string, schema: Json) => ({ description, schema });
const header = (description: string, schema: Json) => ({ ...optional(description, schema), required: true });
const text = (description: string) => header(description, { type: "string" });
const count = (description: string) => header(description, { type: "integer", minimum: 0 });
const word = (description: string, only: string) => header(description, { type: "string", enum: [only] });

/** Every header of a response, except HTTP's own and those of CORS. */
export const HEADERS: Json = {
  "X-Request-ID": header("The client's, or one generated by the server.", {
    type: "string",
    pattern: "^[!-~]{1,128}$",
  }),
  "X-RateLimit-Limit": count("Sustained requests per minute."),
  "X-RateLimit-Remaining": count("Requests left in the bucket now."),
  "X-RateLimit-Reset": count("Seconds until the bucket is full."),
  "RateLimit-Policy": text("The limit, in the format of the IETF draft."),
  RateLimit: text("The current state, in the format of the IETF draft."),
  "Retry-After": header("Whole seconds until a retry may succeed.", { type: "integer", minimum: 1 }),
  "retry-after-ms": count("The same in milliseconds."),
  "x-should-retry": word("For clients that check it.", "true"),
  "WWW-Authenticate": word("How to authenticate.", "Bearer"),
  Upgrade: word("The protocol to connect by.", "websocket"),
  Allow: text("The methods that the path supports."),
  "X-Antiphon-Speed": optional("The actual speed, if it differs from the requested one.", {
    type: "number",
  }),
  "X-Antiphon-Manner": optional(
    "What `instructions` come to: what is done, or `none`, then what is not, as in `much slower, cheerful; not followed: " +
      "pirate`; `passed on` if a remote model reads them itself.",
    { type: "string", pattern: "^[A-Za-z0-9 ,:;]{1,500}$" },
  ),
  "X-Antiphon-Cautions": optional(
    "What the text asks for and is not done, as in `<lang> xml:lang fr-FR is ignored`, also where it looks " +
      "like another language than the model's; several are separated by semicolons.",
    { type: "string", pattern: "^[ -~]{1,1000}$" },
  ),
  "X-Antiphon-Voices": optional("Which voice speaks for whom, percent-encoded: `Anna=Maya, Ben=Theo`.", {
    type: "string",
  }),
  "X-Antiphon-Stop": optional(
    "Present if a reply that is sent whole ends before its text does; `meta.spoken_characters` says how much was spoken.",
    { type: "string", enum: ["length"] },
  ),
  "X-Antiphon-Ignored": optional(
    "Fields of the request that nothing reads, such as mistyped ones, by their paths: `temprature, params.topk`. At most eight, " +
      "and how many more there are; a character that is neither a letter, a digit nor one of `_-` is shown as `?`.",
    { type: "string", pattern: "^[A-Za-z0-9_.?, \\[\\]-]{1,700}$" },
  ),
  "Cache-Control": optional("For streams: not to be cached; for pages: to be revalidated each time.", {
    type: "string",
  }),
  "X-Accel-Buffering": optional("Tells proxies to pass the stream on without buffering.", {
    type: "string",
    enum: ["no"],
  }),
  ETag: text("Identifies the content of the page."),
  "Content-Security-Policy": text("What the page may load and connect to."),
  "Permissions-Policy": optional("Which device features the page may use.", { type: "string" }),
  "Referrer-Policy": text("Other sites do not learn the page's address."),
  "X-Content-Type-Options": text("The content type is to be taken as stated."),
};

/** Headers of a response to a body in JSON. */
export const UNREAD = ["X-Antiphon-Ignored"];
/** Headers of a reply that is sent in one piece. */
export const WHOLE = ["X-Antiphon-Stop", ...UNREAD];
export const STREAMED = ["Cache-Control", "X-Accel-Buffering"];
const PAGE = [
  "Cache-Control",
  "ETag",
  "Content-Security-Policy",
  "Permissions-Policy",
  "Referrer-Policy",
  "X-Content-Type-Options",
];
const ALWAYS = ["X-Request-ID", ...RATE_HEADERS];

export const SECURITY_SCHEMES: Json = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "The API key. It takes precedence if other headers with a key are sent as well.",
  },
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: `The API key. ${KEY_HEADERS.slice(1).join(", ")} are accepted as well; if several are sent, the first in that order counts.`,
  },
};
