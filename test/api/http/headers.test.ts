import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { type BucketLimits, fullBucket, take } from "../../../src/accounts/token-bucket.ts";
import { rateHeaders, retryHeaders } from "../../../src/api/http/headers.ts";
import { retryAfterS } from "../../../src/limits/capacity-errors.ts";
import fc from "../../properties.ts";
import { addVoice } from "./forms.ts";
import { recordingTones, startTestServer, type TestServer } from "./start.ts";
import type { Reply } from "./wire.ts";

it("rateHeaders returns the contract's three headers and the IETF draft's two", () => {
  const reading = { limit: 600, burst: 60, allowed: true, remaining: 59, resetS: 3, retryAfterMs: 0 };
  assert.deepEqual(rateHeaders(reading), {
    "X-RateLimit-Limit": "600",
    "X-RateLimit-Remaining": "59",
    "X-RateLimit-Reset": "3",
    "RateLimit-Policy": '"requests";q=600;w=60',
    RateLimit: '"requests";r=59;t=3',
  });
});

describe("Retry-After", () => {
  it("is the wait in whole seconds, rounded up, at least 1", () => {
    const waits = [
      [0, 1],
      [0.25, 1],
      [1, 1],
      [999, 1],
      [1_000, 1],
      [1_000.5, 2],
      [1_001, 2],
      [1_499, 2],
      [59_999, 60],
      [60_000, 60],
      [60_001, 61],
    ] as const;
    for (const [retryAfterMs, seconds] of waits)
      assert.equal(retryAfterS(retryAfterMs), seconds, `${retryAfterMs} ms`);
  });

  it("comes with retry-after-ms, rounded up, and x-should-retry", () => {
    assert.deepEqual(retryHeaders(1_000.5), {
      "Retry-After": "2",
      "retry-after-ms": "1001",
      "x-should-retry": "true",
    });
  });

  it("is long enough for every bucket, by less than a second too long", () => {
    const limits = fc.record({ rpm: fc.integer({ min: 1, max: 1_000_000 }), burst: fc.constant(1) });
    fc.assert(
      fc.property(limits, (terms: BucketLimits) => {
        const { state } = take(fullBucket(terms, 0), terms, 0);
        const { retryAfterMs } = take(state, terms, 0).reading;
        const seconds = retryAfterS(retryAfterMs);
        assert.equal(take(state, terms, 1_000 * seconds).reading.allowed, true);
        assert.ok(1_000 * (seconds - 1) < retryAfterMs);
      }),
    );
  });
});

describe("X-Antiphon-Ignored", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ checkpoints: [recordingTones([])] });
  });
  after(() => server.stop());

  const turn = { speaker: "0", text: "One way." };
  async function ignored(path: string, body: object): Promise<string | null> {
    const reply: Reply = await server.post(path, body);
    assert.equal(reply.status, 200, await reply.text());
    return reply.headers.get("x-antiphon-ignored");
  }

  test("names the fields that a request does not have", async () => {
    const cases: [path: string, body: object, names: string | null][] = [
      ["/v1/tts", { text: "Hi.", params: { temperature: 1 } }, null],
      ["/v1/tts", { text: "Hi.", temprature: 1 }, "temprature"],
      ["/v1/tts", { text: "Hi.", params: { topk: 3, temperature: 1 } }, "params.topk"],
      ["/v1/tts", { text: "Hi.", speed: 2, instructions: "Calm." }, "speed, instructions"],
      ["/v1/converse", { conversation: [{ ...turn, txt: "?" }] }, "conversation[0].txt"],
      ["/v1/converse/stream", { conversation: [turn], voice: "1" }, "voice"],
      ["/v1/converse", { conversation: [turn], voices: { "1": "1" }, lexicon: { a: "b" } }, null],
      ["/v1/audio/speech", { input: "Hi.", user: "me", stream_format: "audio" }, "user"],
      ["/v1/audio/speech", { input: "Hi.", "a b": 1, "a,b": 2 }, "a?b"],
    ];
    for (const [path, body, names] of cases) assert.equal(await ignored(path, body), names);
  });

  test("names eight fields, escaped, and counts the rest", async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`field${at}`, at]));
    const names = await ignored("/v1/tts", { text: "Hi.", ...many });
    assert.equal(names, `${Array.from({ length: 8 }, (_, at) => `field${at}`).join(", ")}, 99992 more`);
    const odd = { "\r\nSet-Cookie: a=b": 1, "": 2, [`x${"y".repeat(300)}`]: 3, ключ: 4, __proto__x: 5 };
    const header = await ignored("/v1/tts", { text: "Hi.", ...odd });
    assert.match(header ?? "", /^[A-Za-z0-9_.?, [\]-]{1,700}$/);
  });

  test("names the unknown fields of a voice form", async () => {
    assert.equal((await addVoice(server)).headers.get("x-antiphon-ignored"), null);
    const reply = await addVoice(server, { name: "Berta", speaker: "she", ref_txt: "?" });
    assert.equal(reply.status, 200, await reply.text());
    assert.equal(reply.headers.get("x-antiphon-ignored"), "speaker, ref_txt");
  });
});
