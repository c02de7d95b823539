import { Redis } from "iovalkey";
import { BucketsError, memoryBuckets, type SharedBuckets } from "../../src/accounts/buckets.ts";
import { GuardedBuckets, type GuardOptions } from "../../src/accounts/valkey/guarded.ts";
import { takeScript, valkeyBuckets } from "../../src/accounts/valkey/valkey.ts";
import { parseValkeyAddress } from "../../src/accounts/valkey/valkey-address.ts";
import type { BucketsWorld } from "./buckets-conformance.ts";

/** Long enough that no busy machine has a bucket of its own stand in. */
export const PATIENCE: GuardOptions = { timeoutMs: 20_000 };

/** A clock that stands still until it is set. */
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

/** Guarded buckets that have nobody behind them. */
export async function lonelyWorld(): Promise<BucketsWorld> {
  const clock = stillClock();
  const buckets = await GuardedBuckets.open(nobody, { ...PATIENCE, nowMs: clock.read });
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

const away = () => Promise.reject(new BucketsError("Nobody is there."));
const nobody: SharedBuckets = { place: "nowhere", connected: away, take: away, peek: away, close() {} };

/** Guarded buckets on a server whose script asks a clock that the test sets. */
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

/** So late that the server, which forgets by its own clock, forgets no bucket meanwhile. */
const BEGIN_MS = 4e12;
