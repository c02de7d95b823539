import assert from "node:assert/strict";
import { query } from "./postgres-server.ts";

/** Returns the ids of all events; checks that the totals are their sum. */
export async function auditedEvents(url: string): Promise<Set<string>> {
  const [found] = await query<{ counted: unknown; summed: unknown; events: string[] | null }>(
    url,
    `SELECT (SELECT json_agg(total ORDER BY key_id) FROM antiphon.usage_totals AS total WHERE requests > 0) AS counted,
            (SELECT json_agg(sum ORDER BY key_id) FROM (
               SELECT key_id, count(*) AS requests, sum(input_chars) AS input_chars, sum(input_ticks) AS input_ticks,
                      sum(output_ticks) AS output_ticks, max(ts) AS last_ts
               FROM antiphon.usage_events GROUP BY key_id) AS sum) AS summed,
            (SELECT array_agg(event_id) FROM antiphon.usage_events) AS events`,
  );
  assert.deepEqual(found?.counted, found?.summed);
  return new Set(found?.events ?? []);
}
