import assert from "node:assert/strict";
import type { TestServer } from "./start.ts";

export type Reply = Omit<Response, "json"> & {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  json(): Promise<any>;
};

export interface SentEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  readonly data: any;
}

/** Reads a whole stream of server-sent events. */
export async function readEvents(response: Reply): Promise<SentEvent[]> {
  return parseEvents(await response.text());
}

/** Parses the events of a stream without its comments. */
export function parseEvents(text: string): SentEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map(eventOf);
}

/** Parses an event's lines. */
export function eventOf(block: string): SentEvent {
  const [event = "", data = ""] = block.split("\n");
  return { event: event.replace("event: ", ""), data: JSON.parse(data.replace("data: ", "")) };
}

/** The samples of a reply's WAV, as bytes. */
export function pcmOf(wavBase64: string): Buffer {
  return Buffer.from(wavBase64, "base64").subarray(44);
}

/** The samples of a stream's audio events, as bytes. */
export function pcmOfEvents(events: readonly SentEvent[]): Buffer {
  return Buffer.concat(
    events.filter(({ event }) => event === "audio").map(({ data }) => Buffer.from(data.pcm_b64, "base64")),
  );
}

/** Reads a stream to its end and returns the data of its events. */
export async function dataOf(reply: Reply) {
  return (await reply.text())
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice(6)));
}

/** Posts a body and checks its refusal as the client's fault. */
export async function assertRefused(
  server: TestServer,
  path: string,
  body: unknown,
  status: number,
  message: RegExp,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await server.post(path, body, headers);
  const { error } = await response.json();
  assert.equal(response.status, status, `${JSON.stringify(body)?.slice(0, 200)} → ${error?.message}`);
  assert.equal(error.type, "invalid_request");
  assert.match(error.message, message);
  assert.equal(error.request_id, response.headers.get("x-request-id"));
}
