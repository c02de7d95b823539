import { PARTS_A_TOKEN } from "../token-bucket.ts";

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
