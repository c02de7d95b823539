import { ERROR_TYPES, type ErrorStatus } from "../../contract/errors.ts";
import { ErrorEnvelope } from "../../contract/replies.ts";
import type { Json, Ref } from "./components.ts";

/** A JSON body. */
export function json(schema: Json): Json {
  return { "application/json": { schema } };
}

/** What is answered with 200. @param headers that it may have beside those of every response */
export function success(content: Json, description = "Success", headers: readonly string[] = []): Json {
  return { description, headers: referencesTo([...ALWAYS, ...headers]), content };
}

/** What is answered with 304. */
export function unchanged(headers: readonly string[]): Json {
  return {
    description: "As it was when its `ETag` was the one in `If-None-Match`",
    headers: referencesTo([...ALWAYS, ...headers]),
  };
}

/** References to the failures of those statuses. */
export function failures(statuses: readonly ErrorStatus[]): Json {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${FAILURES[status].name}` }]),
  );
}

/** Every failure that the contract knows, by its name. */
export function failureResponses(ref: Ref): Json {
  const envelope = ref(ErrorEnvelope);
  const statuses = Object.keys(FAILURES).map((status) => Number(status) as ErrorStatus);
  return Object.fromEntries(
    statuses.map((status) => {
      const { name, description, headers, message } = FAILURES[status];
      const example = {
        error: { type: ERROR_TYPES[status], message, request_id: "req_5f0c8a1be2d34f9a7c61" },
      };
      return [
        name,
        {
          description,
          headers: referencesTo([...ALWAYS, ...headers]),
          content: { "application/json": { schema: envelope, example } },
        },
      ];
    }),
  );
}

interface Failure {
  readonly name: string;
  readonly description: string;
  readonly headers: readonly string[];
  readonly message: string;
}

const RETRY = ["Retry-After", "retry-after-ms", "x-should-retry"];

const FAILURES: Readonly<Record<ErrorStatus, Failure>> = {
  400: {
    name: "InvalidRequest",
    description: "Over a cap, undecodable audio, unknown model or language, or a turn rule broken",
    headers: [],
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
    description: "No such path, or switched off by the server's settings",
    headers: [],
    message: "no such path: see GET /openapi.json for those there are",
  },
  405: {
    name: "MethodNotAllowed",
    description: "The path does not have this method",
    headers: ["Allow"],
    message: "GET is not allowed here: use POST",
  },
  422: {
    name: "UnprocessableBody",
    description: "The body does not match its schema",
    headers: [],
    message: "text is missing: it is a required field",
  },
  429: {
    name: "RateLimitExceeded",
    description: "Over the rate limit: retry after `Retry-After`",
    headers: RETRY,
    message: "this key is over its rate limit: retry in 2 seconds",
  },
  500: {
    name: "InternalError",
    description: "Unexpected failure",
    headers: [],
    message: "something went wrong in the server: its log has the cause under the request id",
  },
  502: {
    name: "InferenceError",
    description: "The model failed or timed out: retry after `Retry-After`",
    headers: RETRY,
    message: "the server is at its capacity, the queue is full: retry in a moment",
  },
};

const optional = (description: string, schema: Json) => ({ description, schema });
const header = (description: string, schema: Json) => ({ ...optional(description, schema), required: true });
const count = (description: string) => header(description, { type: "integer", minimum: 0 });

/**
 * Every header that a response may have, by its name, but for HTTP's own and those that browsers ask for where a page of
 * another origin calls.
 */
export const HEADERS: Json = {
  "X-Request-ID": header("The client's own, or the server's.", { type: "string", pattern: "^[!-~]{1,128}$" }),
  "X-RateLimit-Limit": count("Sustained requests per minute."),
  "X-RateLimit-Remaining": count("Requests left in the bucket now."),
  "X-RateLimit-Reset": count("Seconds until the bucket is full."),
  "RateLimit-Policy": header("The same limit, as the IETF draft writes it.", { type: "string" }),
  RateLimit: header("The same reading, as the IETF draft writes it.", { type: "string" }),
  "Retry-After": header("Whole seconds until a retry may succeed.", { type: "integer", minimum: 1 }),
  "retry-after-ms": header("The same in milliseconds.", { type: "integer", minimum: 0 }),
  "x-should-retry": header("For clients that ask.", { type: "string", enum: ["true"] }),
  "WWW-Authenticate": header("How to authenticate.", { type: "string", enum: ["Bearer"] }),
  Upgrade: header("The protocol to connect by.", { type: "string", enum: ["websocket"] }),
  Allow: header("The methods that the path has.", { type: "string" }),
  "X-Antiphon-Speed": optional("The speed that is spoken, where the one that was asked for is not.", {
    type: "number",
  }),
  "X-Antiphon-Stop": optional("That a file which is sent whole ends before its input does.", {
    type: "string",
    enum: ["length"],
  }),
  "Cache-Control": optional("That a stream is not to be kept, and a page to be asked for again each time.", {
    type: "string",
  }),
  "X-Accel-Buffering": optional("That a proxy is to pass a stream on as it comes.", {
    type: "string",
    enum: ["no"],
  }),
  ETag: header("Names what the page holds.", { type: "string" }),
  "Content-Security-Policy": header("What the page may load and call.", { type: "string" }),
  "Permissions-Policy": optional("What of the device the page may use.", { type: "string" }),
  "Referrer-Policy": header("That other sites are not told of the page.", { type: "string" }),
  "X-Content-Type-Options": header("That it is what its type says.", { type: "string" }),
};

/** What a reply has that goes out while it is made. */
export const STREAMED = ["Cache-Control", "X-Accel-Buffering"];
/** What a page has. */
export const PAGE = [
  "Cache-Control",
  "ETag",
  "Content-Security-Policy",
  "Permissions-Policy",
  "Referrer-Policy",
  "X-Content-Type-Options",
];

const ALWAYS = [
  "X-Request-ID",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];

function referencesTo(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
