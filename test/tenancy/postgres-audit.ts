import assert from "node:assert/strict";
import { query } from "./postgres-server.ts";

/** The ids of all events that a database has, and a proof that its totals are exactly their sum. */
export async function auditedEvents(url: string): Promise<Set<string>> {
  const counted = await query(
    url,
    `SELECT key_id, requests, input_chars, input_ticks, output_ticks, last_ts
     FROM antiphon.usage_totals WHERE requests > 0 ORDER BY key_id`,
  );
  const summed = await query(
    url,
    `SELECT key_id, count(*) AS requests, sum(input_chars)::bigint AS input_chars,
            sum(input_ticks)::bigint AS input_ticks, sum(output_ticks)::bigint AS output_ticks, max(ts) AS last_ts
     FROM antiphon.usage_events GROUP BY key_id ORDER BY key_id`,
  );
  assert.deepEqual(counted, summed);
  const events = await query<{ event_id: string }>(url, "SELECT event_id FROM antiphon.usage_events");
  return new Set(events.map(({ event_id }) => event_id));
}
