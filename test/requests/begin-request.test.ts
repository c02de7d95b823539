import assert from "node:assert/strict";
import { test } from "node:test";
import type { Key } from "../../src/accounts/tenancy.ts";
import { authenticate, beginRequest } from "../../src/requests/begin-request.ts";
import type { RequestEnd } from "../../src/requests/metrics.ts";
import { ClientGoneError } from "../../src/requests/request-context.ts";

const KEY: Key = { keyId: "key_1", label: "", rpm: 60, burst: 2 };

/** Dependencies whose key has so many tokens left, and what they logged. */
function dependenciesWith(tokens: number) {
  const ends: RequestEnd[] = [];
  const lines: object[] = [];
  const log = (line: object): void => void lines.push(line);
  const deps = {
    tenancy: {
      take: async () => ({
        allowed: tokens-- > 0,
        limit: 60,
        burst: 2,
        remaining: 0,
        resetS: 1,
        retryAfterMs: 900,
      }),
    },
    service: { refusalFor: () => null },
    metrics: { ended: (end: RequestEnd) => ends.push(end) },
    logger: { info: log, warn: log, error: log },
  } as unknown as Parameters<typeof beginRequest>[0];
  const connection = new AbortController();
  const begin = () =>
    beginRequest(deps, {
      route: "session:response",
      findKey: async () => KEY,
      speaks: true,
      overRate: "this key is over its rate limit",
      signal: connection.signal,
    });
  return { ends, lines, begin };
}

test("each request of a long connection takes a token and ends once", async () => {
  const { ends, lines, begin } = dependenciesWith(2);
  const held = { released: 0, release: () => void held.released++ };
  for (let i = 0; i < 2; i++) {
    const request = await begin();
    assert.equal(request.caller.keyId, "key_1");
    request.caller.keep(held);
    assert.equal(request.end(), null);
    assert.equal(request.end(new Error("late")), null, "the first end counts");
  }
  await assert.rejects(begin(), {
    status: 429,
    message: /^this key is over its rate limit: retry in 1 second$/,
  });
  assert.deepEqual(
    ends.map(({ route, http, ending, type }) => [route, http, ending, type]),
    [
      ["session:response", null, "finished", null],
      ["session:response", null, "finished", null],
      ["session:response", null, "failed", "rate_limit_exceeded"],
    ],
  );
  assert.equal(lines.length, 3);
  assert.equal(held.released, 2);
});

test("a request ends as left when its client leaves, and as failed with a reply otherwise", async () => {
  const { ends, begin } = dependenciesWith(2);
  assert.equal((await begin()).end(new ClientGoneError("it closed the connection")), null);
  assert.equal((await begin()).end(new Error("secret"))?.status, 500);
  assert.deepEqual(
    ends.map(({ ending }) => ending),
    ["left", "failed"],
  );
});

test("a failed authentication draws from the address's bucket", async () => {
  let left = 1;
  const tenancy = {
    authenticate: async () => null,
    explainKey: () => "the API key is unknown or was revoked: use another",
    takeAnonymous: () => ({ allowed: left-- > 0, limit: 1, remaining: 0, resetS: 1, retryAfterMs: 900 }),
  } as unknown as Parameters<typeof authenticate>[0];
  await assert.rejects(authenticate(tenancy, "ant_x", "::1"), {
    status: 401,
    message: /unknown or was revoked/,
  });
  await assert.rejects(authenticate(tenancy, null, "::1"), { status: 429, message: /from this address/ });
});
