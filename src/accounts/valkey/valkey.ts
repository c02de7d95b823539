import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { Redis } from "iovalkey";
import type { BucketsError, SharedBuckets, SharedReading } from "../buckets.ts";
import { type BucketLimits, PARTS_A_TOKEN } from "../token-bucket.ts";
import type { ValkeyAddress } from "./valkey-address.ts";
import { asBucketsError } from "./valkey-errors.ts";

export interface ValkeyOptions {
  /** Prefix of key names, so that several fleets can share a server. */
  readonly prefix: string;
  /** Maximum milliseconds for connecting, and for an overdue answer, before reconnecting. */
  readonly silenceMs: number;
  /** {@link takeScript}, possibly with another clock. */
  readonly script?: string;
}

/**
 * Returns buckets on a Valkey server, or Redis from 6.2: an atomic script per take. Connects and reconnects by
 * itself; requests without a connection fail at once.
 */
export function valkeyBuckets(address: ValkeyAddress, options: ValkeyOptions): SharedBuckets {
  const { prefix, silenceMs, script = takeScript() } = options;
  const scriptSha = createHash("sha1").update(script).digest("hex");
  const { host, port, password } = address;
  const spoken = { place: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`, password };
  /** Reason for the missing connection, if known. */
  let trouble: Error | null = null;
  const client = new Redis({
    ...clientOptions(address),
    connectTimeout: silenceMs,
    socketTimeout: silenceMs,
    // After a failover, the name leads to another server.
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
    const failure = error instanceof Error ? error : new Error(String(error));
    return asBucketsError(UNSENT.test(failure.message) ? (trouble ?? LOST) : failure, spoken);
  };
  const run = async (name: string, { rpm, burst }: BucketLimits, taking: 0 | 1): Promise<SharedReading> => {
    // Braces keep all data of a key on one node of a cluster.
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

/** Returns the milliseconds before the next attempt to connect. */
export function reconnectPauseMs(attempt: number): number {
  return Math.min(50 * attempt, MAX_PAUSE_MS);
}

function clientOptions({ host, port, isTls, user, password, database }: ValkeyAddress) {
  return {
    host,
    port,
    // Lets the system choose between IPv4 and IPv6.
    family: 0,
    familyFallback: { enabled: false },
    ...(isTls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    db: database,
    disconnectTimeout: 100,
    retryStrategy: reconnectPauseMs,
    // Does not queue or resend commands: a resent take would count twice.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  };
}

const LOST = new Error("the connection was lost");

/** The client's messages for a command without a connection. */
const UNSENT = /^(Stream isn't writeable|Connection is closed|Reached the max retries|Command aborted)/;

function readingIn(reply: unknown): SharedReading {
  const [allowed, parts] = Array.isArray(reply) ? reply : [];
  if ((allowed === 0 || allowed === 1) && Number.isSafeInteger(parts))
    return { allowed: allowed === 1, parts };
  throw new Error("Protocol error: no bucket was in the reply");
}

/**
 * The arithmetic of `token-bucket.ts` as an atomic script.
 *
 * - `KEYS[1]`: the bucket as `parts ms`: its content at the last take, and the time. All numbers are whole and below 2^53, so doubles are exact.
 * - `ARGV`: rate per minute, burst, and 1 to take or 0 to peek.
 * - Returns `{1 or 0, parts}`: whether there was a token, and the content afterwards.
 *
 * Refused takes and peeks write nothing. A bucket expires when it is full.
 *
 * @param time Lua expression for the time as `{seconds, microseconds}`; by default the server's clock, which all
 * clients share. Evaluated once.
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
