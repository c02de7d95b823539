import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { retryAfterMs } from "../../src/core/retry-after.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

const waitOf = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), NOW_MS);

describe("the wait of a response", () => {
  const { TZ } = process.env;
  // Every date is in UTC, whatever the local time zone.
  before(() => {
    process.env.TZ = "America/New_York";
  });
  after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  const seconds: Record<string, number | null> = {
    "0": 0,
    "1": 1_000,
    "120": 120_000,
    "1.5": 1_500,
    "0.001": 1,
    "0.0004": 0.4,
    "2.999": 2_999,
    "007": 7_000,
    "86400": DAY_MS,
    "86401": DAY_MS,
    "99999999999999999999": DAY_MS,
    ["9".repeat(400)]: DAY_MS,
  };
  for (const [value, ms] of Object.entries(seconds)) {
    test(`is read from ${value.slice(0, 24)} seconds, up to a day`, () => {
      assert.equal(waitOf({ "retry-after": value }), ms);
    });
  }

  const dates: Record<string, number> = {
    "Sat, 21 Nov 2026 12:00:30 GMT": 30_000,
    "Sat, 21 Nov 2026 12:00:00 GMT": 0,
    "Sat, 21 Nov 2026 11:59:59 GMT": 0,
    "Saturday, 21-Nov-26 12:01:00 GMT": 60_000,
    "Sat Nov 21 12:00:05 2026": 5_000,
    "Sun Nov  6 08:49:37 1994": 0,
    "2026-11-21T12:00:10Z": 10_000,
    "Sun, 06 Nov 1994 08:49:37 GMT": 0,
    "Fri, 31 Dec 9999 23:59:59 GMT": DAY_MS,
  };
  for (const [value, ms] of Object.entries(dates)) {
    test(`is read from the date ${value}, and not negative`, () => {
      assert.equal(waitOf({ "retry-after": value }), ms);
    });
  }

  for (const value of [
    "",
    "soon",
    "-5",
    "-0",
    "+5",
    "1e3",
    "0x10",
    "1,5",
    "5 seconds",
    "NaN",
    "Infinity",
    ".5",
    "5.",
    "Sat",
    "Sat, 99 Nov 2026 12:00:00 GMT",
  ]) {
    test(`is unknown for ${JSON.stringify(value)}`, () => {
      assert.equal(waitOf({ "retry-after": value }), null);
      assert.equal(waitOf({ "retry-after-ms": value }), null);
    });
  }

  test("prefers the header in milliseconds", () => {
    assert.equal(waitOf({ "retry-after-ms": "250.5", "retry-after": "9" }), 250.5);
    assert.equal(waitOf({ "retry-after-ms": "0", "retry-after": "9" }), 0);
    assert.equal(waitOf({ "retry-after-ms": "soon", "retry-after": "9" }), 9_000);
    assert.equal(waitOf({ "retry-after-ms": "86400001" }), DAY_MS);
  });

  test("is unknown without headers", () => {
    assert.equal(retryAfterMs(undefined, NOW_MS), null);
    assert.equal(waitOf({}), null);
  });
});
