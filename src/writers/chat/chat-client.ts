import { OpenAI } from "openai";
import { WriterError } from "../../core/writer.ts";

/**
 * Creates a client that sends the key only to `baseUrl`: no redirects, retries, logs or environment variables. Throws
 * a {@link WriterError} if `baseUrl` cannot be used; the message does not quote it, as it may hold a password.
 */
export function createChatClient(baseUrl: string, apiKey: string | null): OpenAI {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new WriterError("writer.baseUrl is not an address: give one as in http://127.0.0.1:11434/v1");
  if (url.username !== "" || url.password !== "")
    throw new WriterError(
      "writer.baseUrl holds a user name or a password: put the key into ANTIPHON_WRITER_API_KEY or writer.apiKeyFile",
    );
  return new OpenAI({
    baseURL: baseUrl.replace(/\/+$/, ""),
    apiKey: apiKey ?? "none",
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: MAX_TIMER_MS,
    logLevel: "off",
    fetch: chatFetch,
    fetchOptions: { redirect: "manual" },
    defaultHeaders: {
      ...Object.fromEntries(IDENTIFYING_HEADERS.map((name) => [name, null])),
      "User-Agent": "antiphon",
      ...(apiKey === null && { Authorization: null }),
    },
  });
}

/** The maximum of a timer: {@link ReplyClock} sets the limits. */
const MAX_TIMER_MS = 2_147_483_647;

/** Headers that describe this machine. */
const IDENTIFYING_HEADERS = "Arch Lang OS Package-Version Retry-Count Runtime Runtime-Version Timeout"
  .split(" ")
  .map((name) => `X-Stainless-${name}`);

/** The answer is no chat completion. */
export class NotAChatError extends Error {
  override readonly name = "NotAChatError";
}

/** The connection ended before `[DONE]`. */
export class UnfinishedStreamError extends Error {
  override readonly name = "UnfinishedError";
}

/**
 * Wraps `fetch` for the client. An error's body, whatever its shape, becomes `{"error": {"message": body}}`, all that
 * the client keeps. A JSON answer becomes a stream of one event. Bodies are bounded. Throws {@link NotAChatError} for
 * a web page or an endless answer.
 */
async function chatFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (!response.ok) {
    const body = JSON.stringify({ error: { message: await readText(response, REFUSAL_BYTES) } });
    return new Response(body, { status: response.status, headers: pickHeaders(response.headers) });
  }
  const type = response.headers.get("content-type")?.toLowerCase() ?? "";
  if (type.includes("html") || response.body === null) throw new NotAChatError("a page, or nothing");
  if (!type.includes("json") || type.includes("event-stream"))
    return new Response(response.body.pipeThrough(limitBytes()), { headers: pickHeaders(response.headers) });
  const text = await readText(response, REPLY_BYTES);
  return new Response(`data: ${onOneLine(text)}\n\ndata: [DONE]\n\n`, {
    headers: pickHeaders(response.headers),
  });
}

const REFUSAL_BYTES = 65_536;
const REPLY_BYTES = 16_777_216;
/** The client rescans a line with each chunk, so an endless line would take quadratic time. */
const LINE_BYTES = 1_048_576;
const NEW_LINE = 10;

function pickHeaders(headers: Headers): Headers {
  const some = new Headers();
  for (const name of ["content-type", "retry-after", "retry-after-ms"]) {
    const value = headers.get(name);
    if (value !== null) some.set(name, value);
  }
  return some;
}

/** Reads the first bytes of a body as text. */
async function readText(response: Response, limit: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    size += piece.length;
    if (size >= limit) break;
  }
  return Buffer.concat(pieces).toString("utf8", 0, limit);
}

function onOneLine(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    throw new NotAChatError("JSON that is none");
  }
}

/** Passes bytes through. Fails on too many bytes, overall or in one line, and on an end without `[DONE]`. */
function limitBytes(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let lineSize = 0;
  let tail = "";
  return new TransformStream({
    transform(piece, controller) {
      size += piece.length;
      const lineEnd = piece.lastIndexOf(NEW_LINE);
      lineSize = lineEnd === -1 ? lineSize + piece.length : piece.length - lineEnd;
      if (size > REPLY_BYTES || lineSize > LINE_BYTES) throw new NotAChatError("an answer without end");
      tail = (tail + Buffer.from(piece.subarray(-32)).toString("latin1")).slice(-32);
      controller.enqueue(piece);
    },
    flush(controller) {
      if (!tail.includes("[DONE]")) controller.error(new UnfinishedStreamError());
    },
  });
}
