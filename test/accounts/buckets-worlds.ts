import { Redis } from "iovalkey";
import { BucketsError, memoryBuckets, type SharedBuckets } from "../../src/accounts/buckets.ts";
import { GuardedBuckets, type GuardOptions } from "../../src/accounts/valkey/guarded-buckets.ts";
import { takeScript, valkeyBuckets } from "../../src/accounts/valkey/valkey.ts";
import { parseValkeyAddress } from "../../src/accounts/valkey/valkey-address.ts";
import type { BucketsWorld } from "./buckets-conformance.ts";

/** Prevents a busy machine from falling back to a local bucket. */
export const PATIENCE: GuardOptions = { timeoutMs: 20_000 };

/** A mocked clock. */
export function stillClock() {
  const clock = { nowMs: 0, read: () => clock.nowMs };
  return clock;
}

export async function memoryWorld(): Promise<BucketsWorld> {
  const clock = stillClock();
  const buckets = memoryBuckets(clock.read);
  return {
    buckets,
    async at(ms) {
      clock.nowMs = ms;
    },
    async close() {
      buckets.close();
    },
  };
}

/** Guarded buckets without a server. */
export async function lonelyWorld(): Promise<BucketsWorld> {
  const clock = stillClock();
  const buckets = await GuardedBuckets.open(absent, { ...PATIENCE, nowMs: clock.read });
  return {
    buckets,
    async at(ms) {
      clock.nowMs = ms;
    },
    async close() {
      buckets.close();
    },
  };
}

const away = () => Promise.reject(new BucketsError("No server."));
const absent: SharedBuckets = { place: "nowhere", connected: away, take: away, peek: away, close() {} };

/** Guarded buckets on a server with a mocked clock. */
export async function valkeyWorld(url: string): Promise<BucketsWorld> {
  const clock = stillClock();
  const server = new Redis(url);
  const options = { prefix: "test", silenceMs: PATIENCE.timeoutMs, script: takeScript(TIME_THAT_IS_SET) };
  const shared = valkeyBuckets(parseValkeyAddress(url), options);
  const buckets = await GuardedBuckets.open(shared, { ...PATIENCE, nowMs: clock.read });
  return {
    buckets,
    async at(ms) {
      clock.nowMs = ms;
      const us = BEGIN_MS * 1_000 + Math.round(ms * 1_000);
      await server.set("clock", `${Math.floor(us / 1e6)} ${us % 1e6}`);
    },
    async close() {
      buckets.close();
      server.disconnect();
    },
  };
}

const TIME_THAT_IS_SET = "{string.match(redis.call('GET', 'clock'), '(%d+) (%d+)')}";

/** Late enough that no entry expires by the server's own clock. */
const BEGIN_MS = 4e12;
