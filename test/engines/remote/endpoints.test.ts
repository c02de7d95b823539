import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, describe, test } from "node:test";
import { SpeechFailedError, type SpeechModel } from "../../../src/core/speech-model.ts";
import type { EndpointEvent } from "../../../src/engines/remote/dialect.ts";
import { drain, LONG_TEXT, never, scriptOf, speakAll } from "../../core/scripts.ts";
import { until, within } from "../../waiting.ts";
import { remoteModel } from "./remote-model.ts";
import {
  type Answer,
  refusal,
  SpeechServer,
  speech,
  streamedWav,
  tonePcm,
  UPSTREAM_SECRET,
} from "./speech-server.ts";

const API_KEY = "key-that-nobody-else-may-see";

const opened: { close(): Promise<void> }[] = [];
after(async () => {
  for (const each of opened) await each.close();
});

async function server(...answers: Answer[]): Promise<SpeechServer> {
  const made = await SpeechServer.open();
  opened.push(made);
  return made.answers(...answers);
}

function model(
  urls: readonly string[],
  options: Partial<Parameters<typeof remoteModel>[0]> = {},
): SpeechModel {
  const made = remoteModel({ urls, apiKey: API_KEY, firstSoundTimeoutMs: 20_000, ...options });
  opened.unshift(made);
  return made;
}

/** Returns the failure, which holds neither the key nor what the endpoint sent. */
async function failure(of: SpeechModel, text = LONG_TEXT): Promise<SpeechFailedError> {
  const error = await speakAll(of, { text }).then(
    () => assert.fail("no failure"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof SpeechFailedError, String(error));
  assert.ok(!error.message.includes(API_KEY) && !error.message.includes(UPSTREAM_SECRET), error.message);
  return error;
}

const silent: Answer = () => {};
const hangUp: Answer = ({ request }) => void request.socket.destroy();

/** A port without a listener. */
async function nowhere(): Promise<string> {
  const made = createServer();
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  const address = made.address();
  await new Promise((resolve) => made.close(resolve));
  if (typeof address === "string" || address === null) throw new Error("no port");
  return `http://127.0.0.1:${address.port}/v1`;
}

describe("A remote model's endpoints", () => {
  const failing: readonly [what: string, answer: Answer][] = [
    ["fails", refusal(500)],
    ["is busy", refusal(429)],
    ["is starting", refusal(503)],
    ["resets the connection", hangUp],
    ["sends nothing", ({ response }) => void response.writeHead(200, { "content-type": "audio/wav" }).end()],
    [
      "breaks off before the first sample",
      ({ response }) => {
        response.writeHead(200, { "content-type": "audio/wav" });
        response.write(streamedWav(Buffer.alloc(0)), () => response.destroy());
      },
    ],
  ];
  for (const [what, answer] of failing)
    test(`are tried in turn when one ${what}`, async () => {
      const [wrong, right] = [await server(answer), await server(speech)];
      const { report } = await speakAll(model([wrong.url, right.url]), { text: LONG_TEXT });
      assert.equal(report.stop, "finished");
      assert.deepEqual([wrong.asked.length, right.asked.length], [1, 1]);
      assert.deepEqual(right.asked[0]?.body, wrong.asked[0]?.body);
    });

  test("are tried in turn when one is unreachable or silent, within firstSoundTimeoutMs", async () => {
    const [quiet, right] = [await server(silent), await server(speech)];
    const elsewhere = model([await nowhere(), quiet.url, right.url], { firstSoundTimeoutMs: 4_000 });
    assert.equal((await speakAll(elsewhere, { text: LONG_TEXT })).report.stop, "finished");
    assert.ok(quiet.asked[0]?.hasLeft(), "the silent one is left");
  });

  test("are tried twice each at most", async () => {
    const alone = await server(refusal(503), speech);
    assert.equal((await speakAll(model([alone.url]), { text: LONG_TEXT })).report.stop, "finished");
    assert.equal(alone.asked.length, 2);
    const [one, other] = [await server(refusal(502)), await server(hangUp)];
    const { message } = await failure(model([one.url, other.url]));
    assert.deepEqual([one.asked.length, other.asked.length], [2, 2]);
    assert.equal(
      message,
      `elsewhere: ${one.host} failed (502); ${other.host} closed the connection (ECONNRESET)`,
    );
  });

  test("are left alone for their Retry-After, which clients are told", async () => {
    const soon = await server(refusal(429, { "retry-after-ms": "400" }), speech);
    assert.equal((await speakAll(model([soon.url]), { text: LONG_TEXT })).report.stop, "finished");
    assert.equal(soon.asked.length, 2);
    const late = await server(refusal(429, { "retry-after": "30" }));
    const busy = model([late.url]);
    for (const _ of [1, 2]) {
      const { message, retryAfterMs } = await failure(busy);
      assert.ok(retryAfterMs !== null && retryAfterMs > 25_000 && retryAfterMs <= 30_000, `${retryAfterMs}`);
      assert.match(message, /is busy|has asked to wait/);
    }
    assert.equal(late.asked.length, 1);
  });

  test("are tried last for a while after a failure", async () => {
    const [wrong, right] = [await server(refusal(500), speech), await server(speech)];
    const both = model([wrong.url, right.url]);
    for (const _ of [1, 2, 3]) await speakAll(both, { text: LONG_TEXT });
    assert.deepEqual([wrong.asked.length, right.asked.length], [1, 3]);
  });

  test("are chosen by the fewest open requests", async () => {
    const held: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(1)));
    };
    const [one, other] = [await server(held), await server(held)];
    const both = model([one.url, other.url]);
    const leaving = new AbortController();
    const open = [1, 2, 3, 4].map(() => both.speak(scriptOf({ text: LONG_TEXT }), leaving.signal));
    for (const each of open) await each.next();
    assert.deepEqual([one.asked.length, other.asked.length], [2, 2]);
    leaving.abort(new Error("enough"));
    await Promise.all(open.map((each) => assert.rejects(drain(each))));
  });

  test("do not count requests that have ended, failed or been left", async () => {
    const [one, other] = [await server(speech), await server(speech)];
    const both = model([one.url, other.url]);
    for (const _ of [1, 2]) await speakAll(both, { text: LONG_TEXT });
    const left = both.speak(scriptOf({ text: LONG_TEXT }), never());
    await left.next();
    await left.return({ stop: "finished", spoken: "" });
    await speakAll(both, { text: LONG_TEXT });
    assert.deepEqual([one.asked.length, other.asked.length], [4, 0]);
    // A fully read connection is kept alive.
    const sockets = new Set(one.asked.slice(0, 3).map(({ request }) => request.socket));
    assert.equal(sockets.size, 1);
  });

  test("are not tried again after the first sound", async () => {
    const breaking: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(1)), () => response.destroy());
    };
    const [wrong, right] = [await server(breaking), await server(speech)];
    const { message } = await failure(model([wrong.url, right.url]));
    assert.match(message, /disconnected during speech \(ECONNRESET\)/);
    assert.equal(right.asked.length, 0);
  });

  test("get no redirected request, and the key goes to its own host only", async () => {
    const other = await server(speech);
    for (const status of [301, 302, 303, 307, 308]) {
      const redirecting = await server(refusal(status, { location: `${other.url}/audio/speech` }));
      const { message, retryAfterMs } = await failure(model([redirecting.url]));
      assert.match(message, new RegExp(`redirects \\(${status}\\); redirects are not followed`));
      assert.ok(retryAfterMs !== null && retryAfterMs >= 10_000);
      assert.equal(redirecting.asked.length, 1);
      assert.equal(redirecting.asked[0]?.request.headers.authorization, `Bearer ${API_KEY}`);
    }
    assert.equal(other.asked.length, 0);
    const keyless = await server(speech);
    await speakAll(model([keyless.url], { apiKey: null }), { text: LONG_TEXT });
    assert.equal(keyless.asked[0]?.request.headers.authorization, undefined);
  });

  const lasting: readonly [status: number, message: RegExp][] = [
    [401, /refused the key \(401\): check keyFile or keyEnv$/],
    [403, /does not let this key use the model \(403\)/],
    [404, /has no such route or model \(404\): check urls, which usually end in \/v1/],
    [400, /refused the request \(400\): check model, voices and format/],
    [422, /refused the request \(422\)/],
    [204, /answered with 204 instead of 200/],
  ];
  for (const [status, pattern] of lasting)
    test(`are not tried again after a ${status}`, async () => {
      const [wrong, right] = [await server(refusal(status)), await server(speech)];
      assert.match((await failure(model([wrong.url, right.url]))).message, pattern);
      assert.deepEqual([wrong.asked.length, right.asked.length], [1, 0]);
    });

  test("report changes only", async () => {
    const events: EndpointEvent[] = [];
    const one = await server(refusal(401), refusal(401), refusal(401), speech);
    const observed = model([one.url], { onEvent: (event) => events.push(event) });
    for (const _ of [1, 2, 3]) await failure(observed);
    for (const _ of [1, 2]) await speakAll(observed, { text: LONG_TEXT });
    const problem = "refused the key (401): check keyFile or keyEnv";
    const where = { checkpoint: "elsewhere", endpoint: one.host, problem };
    assert.deepEqual(events, [
      { kind: "failing", ...where },
      { kind: "recovered", ...where },
    ]);
  });

  test("are left after firstSoundTimeoutMs of silence", async () => {
    const quiet = await server(silent);
    const { message } = await failure(model([quiet.url], { firstSoundTimeoutMs: 300 }));
    assert.match(message, /sent no audio in time \(firstSoundTimeoutMs, 300 ms for all tries\)$/);
    await until("the connection to be closed", () => quiet.asked[0]?.hasLeft() === true);
  });

  test("fail on headers that are too long", async () => {
    const endless: Answer = ({ response }) =>
      void response.writeHead(200, { "content-type": "audio/wav", "x-long": "x".repeat(100_000) }).end();
    const { message } = await failure(model([(await server(endless)).url]));
    assert.match(message, /sent headers that are too long \(HPE_HEADER_OVERFLOW\)/);
  });

  test("fail on another protocol", async () => {
    const made = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("220 mail.example ESMTP\r\n"));
    });
    await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
    opened.push({ close: async () => void made.close() });
    const { port } = made.address() as { port: number };
    const { message } = await failure(model([`http://127.0.0.1:${port}/v1`]));
    assert.match(message, /sent invalid HTTP \(HPE_\w+\)/);
  });

  test("are asked again, without an event, when a kept connection was closed", async () => {
    const one = await server(speech);
    const events: EndpointEvent[] = [];
    const observed = model([one.url], { onEvent: (event) => events.push(event) });
    await speakAll(observed, { text: LONG_TEXT });
    const [first] = one.asked;
    one.answers(({ request, response }) => {
      // The kept connection is closed by this request; a fresh one is not.
      if (request.socket === first?.request.socket) request.socket.destroy();
      else void speech({ request, response, body: null, hasLeft: () => false });
    });
    assert.equal((await speakAll(observed, { text: LONG_TEXT })).report.stop, "finished");
    assert.equal(one.asked.length, 2);
    assert.deepEqual(events, []);
  });

  test("see an abort before the first byte, after it, and when the utterance is left", async () => {
    const held: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(1)));
    };
    const one = await server(silent, held, held);
    const elsewhere = model([one.url]);
    const reason = new Error("gone");
    const isReason = (thrown: unknown) => thrown === reason;

    const before = new AbortController();
    const waiting = elsewhere.speak(scriptOf({ text: LONG_TEXT }), before.signal).next();
    await one.isAsked(1);
    before.abort(reason);
    await assert.rejects(waiting, isReason);

    const meanwhile = new AbortController();
    const speaking = elsewhere.speak(scriptOf({ text: LONG_TEXT }), meanwhile.signal);
    await speaking.next();
    const later = drain(speaking);
    meanwhile.abort(reason);
    await assert.rejects(later, isReason);

    const left = elsewhere.speak(scriptOf({ text: LONG_TEXT }), never());
    await left.next();
    await left.return({ stop: "finished", spoken: "" });
    for (const [index, asked] of one.asked.entries())
      await until(`connection ${index} to be closed`, () => asked.hasLeft());
    assert.equal(one.asked.length, 3);
  });

  test("are disconnected on close", async () => {
    const one = await server(silent);
    const elsewhere = remoteModel({ urls: [one.url] });
    const waiting = assert.rejects(speakAll(elsewhere, { text: LONG_TEXT }), SpeechFailedError);
    await one.isAsked(1);
    await elsewhere.close();
    await within("the utterance to fail", waiting);
    await until("the connection to be closed", () => one.asked[0]?.hasLeft() === true);
  });
});
