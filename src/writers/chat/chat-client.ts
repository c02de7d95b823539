import { OpenAI } from "openai";
import { WriterError } from "../../model/writer.ts";
import { chatFetch } from "./chat-fetch.ts";

/**
 * A client that sends the key to `baseUrl` alone: it follows no redirect, tries nothing twice, logs nothing and takes
 * nothing from the environment. Throws a {@link WriterError} when `baseUrl` cannot be used; it may hold a password, so
 * the message does not quote it.
 */
export function makeChatClient(baseUrl: string, apiKey: string | null): OpenAI {
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
      ...Object.fromEntries(TELLING_HEADERS.map((name) => [name, null])),
      "User-Agent": "antiphon",
      ...(apiKey === null && { Authorization: null }),
    },
  });
}

/** Other clocks decide; this is the longest that a timer can run. */
const MAX_TIMER_MS = 2_147_483_647;

/** Headers about this machine, which are nobody's business. */
const TELLING_HEADERS = [
  "X-Stainless-Arch",
  "X-Stainless-Lang",
  "X-Stainless-OS",
  "X-Stainless-Package-Version",
  "X-Stainless-Retry-Count",
  "X-Stainless-Runtime",
  "X-Stainless-Runtime-Version",
  "X-Stainless-Timeout",
];
