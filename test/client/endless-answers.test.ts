import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { Antiphon, AntiphonError, type AntiphonErrorType } from "../../src/client/antiphon.ts";
import { until } from "../waiting.ts";
import { END, META, type OddServer, startOddServer } from "./odd-server.ts";

const MIB = 2 ** 20;

/** Begins an answer with a status and a type, says something, and then the same again for as long as it is listened to. */
const endless =
  (status: number, type: string, opening: string, again: string) =>
  async (response: ServerResponse): Promise<void> => {
    response.writeHead(status, { "Content-Type": type });
    response.write(opening);
    while (!response.destroyed) {
      if (response.write(again)) continue;
      await Promise.race([once(response, "drain"), once(response, "close")]).catch(() => {});
    }
  };

async function isLeft({ sockets }: OddServer): Promise<void> {
  await until("its connection to be left", () => sockets.size === 0);
}

const clientOf = ({ url }: OddServer) => new Antiphon({ baseUrl: url, apiKey: "ant_x", maxRetries: 0 });

async function fails(call: Promise<unknown>, type: AntiphonErrorType, status: number | null): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof AntiphonError, `${error}`);
    assert.deepEqual([error.type, error.status], [type, status]);
    return true;
  });
}

test("an error whose words have no end is told by its status, and left", async () => {
  const opening = '{"error": {"type": "invalid_request", "message": "';
  await using server = await startOddServer(endless(404, "application/json", opening, "no ".repeat(10_000)));
  await fails(clientOf(server).models(), "not_found", 404);
  await isLeft(server);
});

for (const [what, call] of [
  ["JSON", (antiphon: Antiphon) => antiphon.tts({ text: "Hi." })],
  [
    "a transcript",
    (antiphon: Antiphon) => antiphon.transcribe({ file: new Uint8Array(4), response_format: "text" }),
  ],
] as const) {
  test(`${what} without end is no answer, and is left`, async () => {
    await using server = await startOddServer(endless(200, "application/json", '{"a": "', "x".repeat(MIB)));
    await fails(call(clientOf(server)), "invalid_response", 200);
    await isLeft(server);
  });
}

for (const [what, opening, again] of [
  ["a line", 'event: audio\ndata: {"pcm_b64": "', "A".repeat(MIB)],
  ["an event", "event: audio\n", `data: ${"A".repeat(MIB)}\n`],
  ["nothing but comments", "", `: ${"A".repeat(MIB)}\n\n`],
] as const) {
  test(`a stream with ${what} without end is no answer, after what came before it, and is left`, async () => {
    await using server = await startOddServer(endless(200, "text/event-stream", META + opening, again));
    const names: string[] = [];
    const call = async () => {
      for await (const { event } of clientOf(server).stream({ conversation: [{ text: "Hi." }] })) {
        names.push(event);
      }
    };
    await fails(call(), "invalid_response", 200);
    assert.deepEqual(names, ["meta"]);
    await isLeft(server);
  });
}

/** Answers with a type and 80 MiB in pieces, and what comes after them. */
const large =
  (type: string, piece: string, last = "") =>
  async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { "Content-Type": type });
    for (let count = 0; count < 80; count++) if (!response.write(piece)) await once(response, "drain");
    response.end(last);
  };

test("speech is as long as it is: a file and a stream may have more than any one answer", async () => {
  await using filing = await startOddServer(large("audio/wav", "x".repeat(MIB)));
  const file = await clientOf(filing).speech({ model: "tts-1", input: "Hi.", voice: "alloy" });
  assert.deepEqual([file.size, file.type], [80 * MIB, "audio/wav"]);
  const event = `event: kind-to-come\ndata: ${"x".repeat(MIB)}\n\n`;
  await using streaming = await startOddServer(large("text/event-stream", event, META + END));
  const names: string[] = [];
  for await (const { event } of clientOf(streaming).stream({ conversation: [{ text: "Hi." }] })) {
    names.push(event);
  }
  assert.deepEqual(names, ["meta", "end"]);
});
