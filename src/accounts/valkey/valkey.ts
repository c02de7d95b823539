import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { Redis } from "iovalkey";
import type { BucketsError, SharedBuckets, SharedReading } from "../buckets.ts";
import { type BucketLimits, PARTS_A_TOKEN } from "../token-bucket.ts";
import type { ValkeyAddress } from "./valkey-address.ts";
import { asBucketsError } from "./valkey-errors.ts";

export interface ValkeyOptions {
  /** What the names of the keys begin with, so that two fleets may share one server. */
  readonly prefix: string;
  /** Longest wait for a connection, and for a word on it while one is due, in milliseconds; then another is made. */
  readonly silenceMs: number;
  /** {@link takeScript}, also with a clock of the caller's. */
  readonly script?: string;
}

/**
 * Buckets on one Valkey server, or on Redis from 6.2 on: a script of which each run is one step. It connects by itself, and
 * again for as long as it is open; what is asked meanwhile fails at once.
 */
export function valkeyBuckets(address: ValkeyAddress, options: ValkeyOptions): SharedBuckets {
  const { prefix, silenceMs, script = takeScript() } = options;
  const scriptSha = createHash("sha1").update(script).digest("hex");
  const spoken = { place: placeOf(address), password: address.password };
  /** Why there is no connection, as far as that was said. */
  let trouble: Error | null = null;
  const client = new Redis({
    ...clientOptions(address),
    connectTimeout: silenceMs,
    socketTimeout: silenceMs,
    // After a failover the name leads to another server.
    reconnectOnError(error) {
      if (!error.message.startsWith("READONLY")) return false;
      trouble = error;
      return true;
    },
  });
  client.on("error", (error: Error) => {
    trouble = error;
  });
  client.on("ready", () => {
    trouble = null;
  });

  const toldOf = (error: unknown): BucketsError => {
    const told = error instanceof Error ? error : new Error(String(error));
    return asBucketsError(UNSENT.test(told.message) ? (trouble ?? LOST) : told, spoken);
  };
  const run = async (name: string, { rpm, burst }: BucketLimits, taking: 0 | 1): Promise<SharedReading> => {
    // The braces keep all that belongs to a key on one node, where there are several.
    const parameters = [1, `${prefix}:b:{${name}}`, rpm, burst, taking] as const;
    try {
      const reply = client.evalsha(scriptSha, ...parameters).catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith("NOSCRIPT"))
          return client.eval(script, ...parameters);
        throw error;
      });
      return readingIn(await reply);
    } catch (error) {
      throw toldOf(error);
    }
  };

  return {
    place: spoken.place,
    connected() {
      return new Promise((resolve, reject) => {
        if (client.status === "ready") return resolve();
        client.once("ready", resolve);
        for (const event of ["error", "close"]) client.once(event, () => reject(toldOf(trouble ?? LOST)));
      });
    },
    take: (name, limits) => run(name, limits, 1),
    peek: (name, limits) => run(name, limits, 0),
    close: () => client.disconnect(),
  };
}

const MAX_PAUSE_MS = 250;

/** How long to wait before the next attempt to connect, in milliseconds. */
export function reconnectPauseMs(attempt: number): number {
  return Math.min(50 * attempt, MAX_PAUSE_MS);
}

function clientOptions({ host, port, isTls, user, password, database }: ValkeyAddress) {
  return {
    host,
    port,
    // Whatever the name resolves to, as the system prefers it.
    family: 0,
    familyFallback: { enabled: false },
    ...(isTls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    db: database,
    disconnectTimeout: 100,
    retryStrategy: reconnectPauseMs,
    // Nobody waits for a connection, and nothing is sent twice: a token would be taken twice.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  };
}

const LOST = new Error("the connection was lost");

/** What the client says of a command for which there is no connection, or no more. */
const UNSENT = /^(Stream isn't writeable|Connection is closed|Reached the max retries|Command aborted)/;

function placeOf({ host, port }: ValkeyAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function readingIn(reply: unknown): SharedReading {
  const [allowed, parts] = Array.isArray(reply) ? reply : [];
  if ((allowed === 0 || allowed === 1) && Number.isSafeInteger(parts))
    return { allowed: allowed === 1, parts };
  throw new Error("Protocol error: no bucket was in the reply");
}

/**
 * The arithmetic of `token-bucket.ts` inside the engine, in one step that nobody else comes between.
 *
 * - `KEYS[1]`: the bucket, kept as `parts ms`: what was in it when a token was last taken, and when that was. All numbers
 *   are whole and below 2^53, so that a double holds them exactly.
 * - `ARGV`: the rate a minute, the burst, and 1 to take a token or 0 to look.
 * - Gives `{1 or 0, parts}`: whether there was a token, and what is in the bucket afterwards.
 *
 * A refused take and a look write nothing. A bucket vanishes when it is full, which is what none is taken for.
 *
 * @param time Lua for the time as `{seconds, microseconds}`: the engine's own, which all servers share. It is asked once.
 */
export function takeScript(time = "redis.call('TIME')"): string {
  return `
local rate, burst, taking = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local time = ${time}
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local full = burst * ${PARTS_A_TOKEN}
local parts, at = full, now
local kept = redis.call('GET', KEYS[1])
if kept then
  local keptParts, keptAt = string.match(kept, '^(%d+) (%d+)$')
  parts, at = tonumber(keptParts), tonumber(keptAt)
  if now > at then
    local missing = full - parts
    local elapsed = now - at
    if elapsed >= missing / rate then parts = full else parts = parts + elapsed * rate end
    at = now
  end
end
if parts < ${PARTS_A_TOKEN} then return {0, parts} end
if taking then
  parts = parts - ${PARTS_A_TOKEN}
  local fullAt = at + math.ceil((full - parts) / rate)
  redis.call('SET', KEYS[1], string.format('%.0f %.0f', parts, at), 'PXAT', string.format('%.0f', fullAt))
end
return {1, parts}
`;
}
