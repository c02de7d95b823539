import assert from "node:assert/strict";
import { test } from "node:test";
import { AntiphonError } from "../../src/client/antiphon-error.ts";
import { retryAfterMs, retryWaitMs } from "../../src/client/connection.ts";

const afterMs = (headers: Record<string, string>) =>
  retryAfterMs(new Headers(headers), Date.parse("2026-11-22T10:00:00Z"));

test("when to come back is read in milliseconds, in seconds or as a date, and nonsense says nothing", () => {
  assert.equal(afterMs({ "retry-after-ms": "250", "Retry-After": "1" }), 250);
  assert.equal(afterMs({ "Retry-After": "3" }), 3_000);
  assert.equal(afterMs({ "Retry-After": "0" }), 0);
  assert.equal(afterMs({ "Retry-After": "Sun, 22 Nov 2026 10:00:02 GMT" }), 2_000);
  for (const told of ["soon", "-1", "", "Sun, 22 Nov 2026 09:00:00 GMT"]) {
    assert.equal(afterMs({ "Retry-After": told }), null, told);
  }
  assert.equal(afterMs({ "retry-after-ms": "soon" }), null);
  assert.equal(afterMs({}), null);
});

test("without a word of when, pauses double, spread out, up to a limit", () => {
  const error = new AntiphonError("connection_error", "the server cannot be reached");
  for (const [attempt, longest] of [500, 1_000, 2_000, 4_000, 8_000, 8_000].entries()) {
    const waitMs = retryWaitMs(error, attempt)!;
    assert.ok(waitMs <= longest && waitMs > 0.74 * longest, `${attempt}: ${waitMs}`);
  }
});
