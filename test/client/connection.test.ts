import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { Antiphon, AntiphonError, type ConnectionOptions } from "../../src/client/antiphon.ts";
import { retryAfterMs, retryWaitMs } from "../../src/client/connection.ts";
import { until, within } from "../waiting.ts";
import {
  END,
  FRAME,
  failing,
  json,
  META,
  type ScriptedServer,
  silent,
  startScriptedServer,
  streaming,
} from "./scripted-server.ts";

const REQUEST = { conversation: [{ text: "Hi." }] };
const RETRY_NOW = { "retry-after-ms": "1" };
const MIB = 2 ** 20;
const limited = (retryAfter: string) => failing(429, "rate_limit_exceeded", { "Retry-After": retryAfter });
const neverEnding = streaming(META + FRAME, () => {});

const clientOf = ({ url }: ScriptedServer, options: Partial<ConnectionOptions> = {}) =>
  new Antiphon({ baseUrl: url, apiKey: "ant_x", ...options });

/** Reads a stream and returns the names of its events, and its error. */
async function read(antiphon: Antiphon, options: { readonly signal?: AbortSignal } = {}) {
  const names: string[] = [];
  try {
    for await (const { event } of antiphon.stream(REQUEST, options)) names.push(event);
    return { names, error: null };
  } catch (error) {
    return { names, error };
  }
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail("it did not fail"),
    (error: unknown) => error,
  );

function assertError(error: unknown, expected: Partial<AntiphonError>): void {
  assert.ok(error instanceof AntiphonError, `${error}`);
  for (const [name, value] of Object.entries(expected))
    assert.equal(error[name as keyof AntiphonError], value, `${name} of ${error}`);
}

const closed = ({ sockets }: ScriptedServer) =>
  until("the connection to be closed", () => sockets.size === 0);

describe("a call", () => {
  for (const status of [408, 409, 429, 500, 502, 503]) {
    test(`is retried after a ${status}, when the server says`, async () => {
      const failure = failing(status, "inference_error", RETRY_NOW);
      await using server = await startScriptedServer(failure, failure, json(200, { data: [] }));
      assert.deepEqual(await clientOf(server).models(), []);
      assert.equal(server.asked.length, 3);
    });
  }

  for (const status of [400, 401, 404, 422]) {
    test(`is not retried after a ${status}`, async () => {
      await using server = await startScriptedServer(failing(status, "invalid_request"));
      const error = await failureOf(clientOf(server).models());
      assertError(error, { status, type: "invalid_request", requestId: "req_1", retryAfterMs: null });
      assert.equal(server.asked.length, 1);
    });
  }

  test("throws the server's error after its last attempt", async () => {
    await using server = await startScriptedServer(limited("0"));
    const error = await failureOf(clientOf(server, { maxRetries: 1 }).tts({ text: "Hi." }));
    const expected = { status: 429, type: "rate_limit_exceeded", retryAfterMs: 0 } as const;
    assertError(error, { ...expected, message: "no: try again", requestId: "req_1" });
    assert.equal(server.asked.length, 2);
  });

  test("is not retried if the server asks for a long wait", async () => {
    await using server = await startScriptedServer(limited("3600"));
    assertError(await failureOf(clientOf(server).usage()), { status: 429, retryAfterMs: 3_600_000 });
    assert.equal(server.asked.length, 1);
  });

  test("is retried after a broken connection, and reports a refused one", async () => {
    await using server = await startScriptedServer((response) => response.destroy(), json(200, { data: [] }));
    assert.deepEqual(await clientOf(server).models(), []);
    assert.equal(server.asked.length, 2);
    await server.close();
    const error = await failureOf(clientOf(server, { maxRetries: 0 }).models());
    assertError(error, { type: "connection_error", status: null });
  });

  test("can set its own number of retries", async () => {
    await using server = await startScriptedServer(failing(502, "inference_error", RETRY_NOW));
    await assert.rejects(clientOf(server).models({ maxRetries: 0 }));
    assert.equal(server.asked.length, 1);
  });

  test("names an answer that is not from this API", async () => {
    await using server = await startScriptedServer((response) => response.writeHead(200).end("<html>"));
    assertError((await read(clientOf(server))).error, { type: "invalid_response" });
    const error = await failureOf(clientOf(server).info());
    assertError(error, { type: "invalid_response", status: 200 });
    await using proxy = await startScriptedServer((response) => response.writeHead(404).end("<html>"));
    assertError(await failureOf(clientOf(proxy).info()), { type: "not_found", status: 404 });
  });

  test("times out once if the server never answers", async () => {
    await using server = await startScriptedServer(silent);
    const antiphon = clientOf(server, { timeoutMs: 500 });
    const [{ error }, failure] = await Promise.all([read(antiphon), failureOf(antiphon.models())]);
    assertError(error, { type: "timeout_error", status: null });
    assertError(failure, { type: "timeout_error" });
    assert.equal(server.asked.length, 2);
  });

  test("times out if the server stops in the middle", async () => {
    await using server = await startScriptedServer(neverEnding);
    const antiphon = clientOf(server, { timeoutMs: 500 });
    const [{ names, error }, failure] = await Promise.all([read(antiphon), failureOf(antiphon.usage())]);
    assert.deepEqual(names, ["meta", "audio"]);
    assertError(error, { type: "timeout_error" });
    assertError(failure, { type: "timeout_error" });
  });

  test("can have no time-out", async () => {
    await using server = await startScriptedServer((response) => {
      setTimeout(() => json(200, { data: [] })(response, response.req), 50);
    });
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31])
      assert.deepEqual(await clientOf(server, { timeoutMs }).models(), []);
  });

  test("does not time out while bytes keep coming", async () => {
    const timeoutMs = 1_000;
    await using server = await startScriptedServer(
      streaming(META, (response) => {
        let left = 12;
        const timer = setInterval(() => {
          if (left-- > 0) return response.write(": still here\n\n");
          clearInterval(timer);
          return response.end(END);
        }, timeoutMs / 8);
      }),
    );
    assert.deepEqual(await read(clientOf(server, { timeoutMs })), { names: ["meta", "end"], error: null });
  });

  test("uses the given fetch, even one that ignores its signal", async () => {
    const deaf = (() => new Promise<Response>(() => {})) as typeof fetch;
    const antiphon = new Antiphon({ baseUrl: "http://nowhere.invalid", fetch: deaf });
    const leaving = new AbortController();
    const call = antiphon.models({ signal: leaving.signal });
    leaving.abort(new Error("enough"));
    await assert.rejects(call, /enough/);
  });
});

describe("a stream", () => {
  for (const [what, leave] of [
    ["is cut off", (response: ServerResponse) => void response.destroy()],
    ["ends without its last event", (response: ServerResponse) => void response.end()],
  ] as const) {
    test(`that ${what} throws after its events and is not retried`, async () => {
      await using server = await startScriptedServer(streaming(META + FRAME, leave));
      const { names, error } = await read(clientOf(server));
      assert.deepEqual(names, ["meta", "audio"]);
      assertError(error, { type: "connection_error", status: 200, requestId: "req_2" });
      assert.equal(server.asked.length, 1);
    });
  }

  test("throws the server's error event and is not retried", async () => {
    const data = '{"type":"inference_error","message":"the voice failed","request_id":"req_2"}';
    await using server = await startScriptedServer(
      streaming(`${META}${FRAME}event: error\ndata: ${data}\n\n`),
    );
    const { names, error } = await read(clientOf(server));
    assert.deepEqual(names, ["meta", "audio"]);
    assertError(error, { type: "inference_error", message: "the voice failed", requestId: "req_2" });
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
    test(`ends at an invalid event: ${JSON.stringify(garbage)}`, async () => {
      await using server = await startScriptedServer(streaming(`${META}event: ${garbage}\n\n${END}`));
      const { names, error } = await read(clientOf(server));
      assert.deepEqual(names, ["meta"]);
      assertError(error, { type: "invalid_response", status: 200 });
      assert.ok((error as Error).cause instanceof Error);
    });
  }

  for (const [what, answer, names] of [
    [
      "skips comments and unknown events",
      streaming(`: hello\n\n${META}event: viseme\ndata: ?\n\ndata: {}\n\n: still here\n\n${FRAME}${END}`),
      ["meta", "audio", "end"],
    ],
    ["does not wait for bytes after its end", streaming(META + END, () => {}), ["meta", "end"]],
  ] as const) {
    test(what, async () => {
      await using server = await startScriptedServer(answer);
      assert.deepEqual(await read(clientOf(server)), { names, error: null });
    });
  }
});

describe("a redirect", () => {
  const isRedirect = (status: number | null) => (error: unknown) => {
    assertError(error, { type: "invalid_response", status });
    assert.match((error as Error).message, /set baseUrl to where it is/);
    return true;
  };

  for (const status of [301, 302, 303, 307, 308]) {
    test(`with status ${status} is neither followed nor retried`, async () => {
      await using target = await startScriptedServer(json(200, { data: [] }));
      const answer = json(status, { error: { type: "not_found" } }, { Location: target.url });
      await using server = await startScriptedServer(answer);
      const antiphon = clientOf(server);
      for (const call of [
        antiphon.models(),
        antiphon.tts({ text: "Hi." }),
        antiphon.transcribe({ file: new Uint8Array(4) }),
        antiphon.stream(REQUEST).next(),
      ])
        await assert.rejects(call, isRedirect(status));
      assert.deepEqual([server.asked.length, target.asked.length], [4, 0]);
    });
  }

  test("is recognised in a browser, which hides it", async () => {
    const asked: RequestInit[] = [];
    // A browser's `fetch` returns status 0, as this does.
    const opaque = (async (_url: string, init: RequestInit) => {
      asked.push(init);
      return Response.error();
    }) as typeof fetch;
    const antiphon = new Antiphon({ baseUrl: "http://nowhere.invalid", fetch: opaque });
    await assert.rejects(antiphon.models(), isRedirect(null));
    assert.deepEqual([asked.length, asked[0]!.redirect], [1, "manual"]);
  });
});

describe("a retry", () => {
  const afterMs = (headers: Record<string, string>) =>
    retryAfterMs(new Headers(headers), Date.parse("2026-11-22T10:00:00Z"));

  test("reads its time in milliseconds, in seconds or as a date", () => {
    assert.equal(afterMs({ "retry-after-ms": "250", "Retry-After": "1" }), 250);
    for (const [value, ms] of [
      ["3", 3_000],
      ["0", 0],
      ["Sun, 22 Nov 2026 10:00:02 GMT", 2_000],
      ["soon", null],
      ["-1", null],
      ["", null],
      ["Sun, 22 Nov 2026 09:00:00 GMT", null],
    ] as const)
      assert.equal(afterMs({ "Retry-After": value }), ms, value);
    assert.equal(afterMs({ "retry-after-ms": "soon" }), null);
    assert.equal(afterMs({}), null);
  });

  test("backs off exponentially, with jitter and a limit, without such a time", () => {
    const error = new AntiphonError("connection_error", "the server cannot be reached");
    for (const [attempt, longest] of [500, 1_000, 2_000, 4_000, 8_000, 8_000].entries()) {
      const waitMs = retryWaitMs(error, attempt)!;
      assert.ok(waitMs <= longest && waitMs > 0.74 * longest, `${attempt}: ${waitMs}`);
    }
  });
});

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** No connection, listener or timer is left of a call. */
async function assertNothingLeft(
  server: ScriptedServer,
  signal: AbortSignal,
  timersBefore: number,
): Promise<void> {
  await closed(server);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.ok(timers() <= timersBefore, "a timer is left");
}

describe("an aborted call", () => {
  test("sends nothing if it was aborted before it began", async () => {
    await using server = await startScriptedServer(silent);
    const signal = AbortSignal.abort(new Error("enough"));
    assert.match(`${(await read(clientOf(server), { signal })).error}`, /enough/);
    await assert.rejects(clientOf(server).models({ signal }), /enough/);
    assert.equal(server.asked.length, 0);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  for (const [phase, answer] of [
    ["before the answer", silent],
    ["during the answer", neverEnding],
  ] as const) {
    test(`closes its connection and leaves nothing behind ${phase}`, async () => {
      await using server = await startScriptedServer(answer);
      const antiphon = clientOf(server);
      for (const call of [
        async (signal: AbortSignal) => {
          const { error } = await read(antiphon, { signal });
          throw error;
        },
        (signal: AbortSignal) => antiphon.tts({ text: "Hi." }, { signal }),
        (signal: AbortSignal) => antiphon.speech({ model: "tts-1", input: "Hi." }, { signal }),
        (signal: AbortSignal) => antiphon.transcribe({ file: new Uint8Array(9) }, { signal }),
      ]) {
        const before = timers();
        const asked = server.asked.length;
        const leaving = new AbortController();
        const over = assert.rejects(call(leaving.signal), /enough/);
        await until("the request", () => server.asked.length > asked);
        leaving.abort(new Error("enough"));
        await within("the call", over);
        await assertNothingLeft(server, leaving.signal, before);
      }
    });
  }

  test("makes no other attempt", async () => {
    const answer = failing(429, "rate_limit_exceeded", { "Retry-After": "59" });
    await using server = await startScriptedServer(answer);
    const before = timers();
    const leaving = new AbortController();
    const over = assert.rejects(clientOf(server).models({ signal: leaving.signal }), /enough/);
    await until("the wait for another attempt", () => timers() > before && server.asked.length === 1);
    leaving.abort(new Error("enough"));
    await within("the call", over);
    assert.equal(getEventListeners(leaving.signal, "abort").length, 0);
    assert.equal(server.asked.length, 1);
  });

  test("is a left loop too, at an event or while waiting for one", async () => {
    await using server = await startScriptedServer(neverEnding);
    const antiphon = clientOf(server);
    const { signal } = new AbortController();
    const before = timers();
    for await (const { event } of antiphon.stream(REQUEST, { signal })) if (event === "audio") break;
    await assertNothingLeft(server, signal, before);

    const events = antiphon.stream(REQUEST, { signal });
    for (const name of ["meta", "audio"]) assert.equal((await events.next()).value?.event, name);
    const waiting = events.next();
    const done = { done: true, value: undefined };
    assert.deepEqual(await within("the end", events.return!()), done);
    assert.deepEqual(await within("the pending event", waiting), done);
    await assertNothingLeft(server, signal, before);
  });

  test("sends nothing as an unread stream, and leaves nothing as a finished one", async () => {
    await using server = await startScriptedServer(streaming(META + FRAME + END));
    const { signal } = new AbortController();
    const before = timers();
    await clientOf(server).stream(REQUEST, { signal }).return!();
    assert.equal(server.asked.length, 0);
    await read(clientOf(server), { signal });
    assert.equal(getEventListeners(signal, "abort").length, 0);
    assert.ok(timers() <= before + 1, "more than the connection's own timer");
  });
});

/** Answers with an opening and then the same text for as long as the client reads. */
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

describe("an endless answer", () => {
  const JSON_TYPE = "application/json";
  const NO = '{"error": {"type": "invalid_request", "message": "';
  for (const [what, answer, call, expected] of [
    [
      "with an error",
      endless(404, JSON_TYPE, NO, "no ".repeat(10_000)),
      (antiphon: Antiphon) => antiphon.models(),
      { type: "not_found", status: 404 },
    ],
    [
      "with JSON",
      endless(200, JSON_TYPE, '{"a": "', "x".repeat(MIB)),
      (antiphon: Antiphon) => antiphon.tts({ text: "Hi." }),
      { type: "invalid_response", status: 200 },
    ],
    [
      "with a transcript",
      endless(200, JSON_TYPE, '{"a": "', "x".repeat(MIB)),
      (antiphon: Antiphon) => antiphon.transcribe({ file: new Uint8Array(4), response_format: "text" }),
      { type: "invalid_response", status: 200 },
    ],
  ] as const) {
    test(`${what} is cut off`, async () => {
      await using server = await startScriptedServer(answer);
      assertError(await failureOf(call(clientOf(server, { maxRetries: 0 }))), expected);
      await closed(server);
    });
  }

  for (const [what, opening, again] of [
    ["a line", 'event: audio\ndata: {"pcm_b64": "', "A".repeat(MIB)],
    ["an event", "event: audio\n", `data: ${"A".repeat(MIB)}\n`],
    ["comments", "", `: ${"A".repeat(MIB)}\n\n`],
  ] as const) {
    test(`with ${what} in a stream is cut off after its events`, async () => {
      await using server = await startScriptedServer(
        endless(200, "text/event-stream", META + opening, again),
      );
      const { names, error } = await read(clientOf(server, { maxRetries: 0 }));
      assertError(error, { type: "invalid_response", status: 200 });
      assert.deepEqual(names, ["meta"]);
      await closed(server);
    });
  }

  /** Answers with 80 MiB in chunks. */
  const large =
    (type: string, chunk: string, last = "") =>
    async (response: ServerResponse): Promise<void> => {
      response.writeHead(200, { "Content-Type": type });
      for (let count = 0; count < 80; count++) if (!response.write(chunk)) await once(response, "drain");
      response.end(last);
    };

  test("is not a long file or a long stream, which have no limit", async () => {
    await using files = await startScriptedServer(large("audio/wav", "x".repeat(MIB)));
    const file = await clientOf(files).speech({ model: "tts-1", input: "Hi.", voice: "alloy" });
    assert.deepEqual([file.size, file.type], [80 * MIB, "audio/wav"]);
    const event = `event: kind-to-come\ndata: ${"x".repeat(MIB)}\n\n`;
    await using streams = await startScriptedServer(large("text/event-stream", event, META + END));
    assert.deepEqual(await read(clientOf(streams)), { names: ["meta", "end"], error: null });
  });
});
