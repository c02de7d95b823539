import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { Antiphon, AntiphonError, type ConnectionOptions } from "../../src/client/antiphon.ts";
import {
  END,
  FRAME,
  failing,
  json,
  META,
  type OddServer,
  silent,
  startOddServer,
  streaming,
} from "./odd-server.ts";

const REQUEST = { conversation: [{ text: "Hi." }] };
const AT_ONCE = { "retry-after-ms": "1" };

const clientOf = ({ url }: OddServer, options: Partial<ConnectionOptions> = {}) =>
  new Antiphon({ baseUrl: url, apiKey: "ant_x", ...options });

/** The names of a stream's events, and what it threw. */
async function listen(antiphon: Antiphon): Promise<{ names: string[]; error: unknown }> {
  const names: string[] = [];
  try {
    for await (const { event } of antiphon.stream(REQUEST)) names.push(event);
    return { names, error: null };
  } catch (error) {
    return { names, error };
  }
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return assert.fail("it did not fail");
}

function has(error: unknown, expected: Partial<AntiphonError>): void {
  assert.ok(error instanceof AntiphonError, `${error}`);
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(error[name as keyof AntiphonError], value, `${name} of ${error}`);
  }
}

for (const status of [408, 409, 429, 500, 502, 503]) {
  test(`a ${status} is asked again, after what it says of when`, async () => {
    await using server = await startOddServer(
      failing(status, "inference_error", AT_ONCE),
      failing(status, "inference_error", AT_ONCE),
      json(200, { data: [] }),
    );
    assert.deepEqual(await clientOf(server).models(), []);
    assert.equal(server.asked.length, 3);
  });
}

for (const status of [400, 401, 404, 422]) {
  test(`a ${status} is not asked again`, async () => {
    await using server = await startOddServer(failing(status, "invalid_request"));
    const call = clientOf(server).models();
    has(await failureOf(call), { status, type: "invalid_request", requestId: "req_1", retryAfterMs: null });
    assert.equal(server.asked.length, 1);
  });
}

test("after the last attempt, the server's own words are thrown, with all that they come with", async () => {
  await using server = await startOddServer(failing(429, "rate_limit_exceeded", { "Retry-After": "0" }));
  const call = clientOf(server, { maxRetries: 1 }).tts({ text: "Hi." });
  const told = {
    status: 429,
    type: "rate_limit_exceeded",
    retryAfterMs: 0,
    message: "no: try again",
  } as const;
  has(await failureOf(call), { ...told, requestId: "req_1" });
  assert.equal(server.asked.length, 2);
});

test("a server that wants to be left alone for long is left alone, and the caller is told how long", async () => {
  await using server = await startOddServer(failing(429, "rate_limit_exceeded", { "Retry-After": "3600" }));
  const call = clientOf(server).usage();
  has(await failureOf(call), { status: 429, retryAfterMs: 3_600_000 });
  assert.equal(server.asked.length, 1);
});

test("a connection that breaks before an answer is tried again, and one that nobody takes is named", async () => {
  await using server = await startOddServer((response) => response.destroy(), json(200, { data: [] }));
  assert.deepEqual(await clientOf(server).models(), []);
  assert.equal(server.asked.length, 2);
  await server.close();
  const call = clientOf(server, { maxRetries: 0 }).models();
  has(await failureOf(call), { type: "connection_error", status: null });
});

test("a call may have retries of its own", async () => {
  await using server = await startOddServer(failing(502, "inference_error", AT_ONCE));
  await assert.rejects(clientOf(server).models({ maxRetries: 0 }));
  assert.equal(server.asked.length, 1);
});

for (const [what, leave] of [
  ["is cut off", (response: ServerResponse) => void response.destroy()],
  ["ends without its last event", (response: ServerResponse) => void response.end()],
] as const) {
  test(`a stream that ${what} says so after what came, and is never asked for again`, async () => {
    await using server = await startOddServer(streaming(META + FRAME, leave));
    const { names, error } = await listen(clientOf(server));
    assert.deepEqual(names, ["meta", "audio"]);
    has(error, { type: "connection_error", status: 200, requestId: "req_2" });
    assert.equal(server.asked.length, 1);
  });
}

test("a stream that fails says what the server says, and is never asked for again", async () => {
  const failure =
    'event: error\ndata: {"type":"inference_error","message":"the voice failed","request_id":"req_2"}\n\n';
  await using server = await startOddServer(streaming(META + FRAME + failure));
  const { names, error } = await listen(clientOf(server));
  assert.deepEqual(names, ["meta", "audio"]);
  has(error, { type: "inference_error", message: "the voice failed", requestId: "req_2" });
  assert.equal(server.asked.length, 1);
});

for (const garbage of [
  "meta\ndata: {",
  "audio\ndata: {}",
  "audio\ndata: null",
  'audio\ndata: {"pcm_b64":"*"}',
  "end\ndata: 7",
  "error\ndata: no",
]) {
  test(`an event that cannot be read ends the stream: ${JSON.stringify(garbage)}`, async () => {
    await using server = await startOddServer(streaming(`${META}event: ${garbage}\n\n${END}`));
    const { names, error } = await listen(clientOf(server));
    assert.deepEqual(names, ["meta"]);
    has(error, { type: "invalid_response", status: 200 });
  });
}

test("comments and events of kinds to come are passed over", async () => {
  await using server = await startOddServer(
    streaming(`: hello\n\n${META}event: viseme\ndata: ?\n\ndata: {}\n\n: still here\n\n${FRAME}${END}`),
  );
  assert.deepEqual(await listen(clientOf(server)), { names: ["meta", "audio", "end"], error: null });
});

test("what comes after the end is not waited for", async () => {
  await using server = await startOddServer(streaming(META + END, () => {}));
  assert.deepEqual(await listen(clientOf(server)), { names: ["meta", "end"], error: null });
});

test("an answer that is none of this API's is named", async () => {
  await using server = await startOddServer((response) => response.writeHead(200).end("<html>"));
  has((await listen(clientOf(server))).error, { type: "invalid_response" });
  has(await failureOf(clientOf(server).info()), { type: "invalid_response", status: 200 });
  await using proxy = await startOddServer((response) => response.writeHead(404).end("<html>"));
  has(await failureOf(clientOf(proxy).info()), { type: "not_found", status: 404 });
});

test("a server that never answers is given up, once", async () => {
  await using server = await startOddServer(silent);
  const antiphon = clientOf(server, { timeoutMs: 500 });
  has((await listen(antiphon)).error, { type: "timeout_error", status: null });
  has(await failureOf(antiphon.models()), { type: "timeout_error" });
  assert.equal(server.asked.length, 2);
});

test("a server that stops in the middle is given up, in a stream and in a whole reply", async () => {
  await using server = await startOddServer(streaming(META + FRAME, () => {}));
  const antiphon = clientOf(server, { timeoutMs: 500 });
  const { names, error } = await listen(antiphon);
  assert.deepEqual(names, ["meta", "audio"]);
  has(error, { type: "timeout_error" });
  has(await failureOf(antiphon.usage()), { type: "timeout_error" });
});

test("whoever wants no time-out waits for as long as it takes", async () => {
  await using server = await startOddServer((response) => {
    setTimeout(() => json(200, { data: [] })(response, response.req), 50);
  });
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    assert.deepEqual(await clientOf(server, { timeoutMs }).models(), []);
  }
});

test("bytes that keep coming are waited for, however long it all takes", async () => {
  const timeoutMs = 1_000;
  await using server = await startOddServer(
    streaming(META, (response) => {
      let left = 12;
      const timer = setInterval(() => {
        if (left-- > 0) return response.write(": still here\n\n");
        clearInterval(timer);
        return response.end(END);
      }, timeoutMs / 8);
    }),
  );
  assert.deepEqual(await listen(clientOf(server, { timeoutMs })), { names: ["meta", "end"], error: null });
});

test("a fetch of one's own is asked in place of the global one, also one that does not heed its signal", async () => {
  const deaf = (() => new Promise<Response>(() => {})) as typeof fetch;
  const antiphon = new Antiphon({ baseUrl: "http://nowhere.invalid", fetch: deaf });
  const leaving = new AbortController();
  const call = antiphon.models({ signal: leaving.signal });
  leaving.abort(new Error("enough"));
  await assert.rejects(call, /enough/);
});
