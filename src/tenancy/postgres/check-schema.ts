import { monotonicMs } from "../monotonic-clock.ts";
import { Connections } from "./connections.ts";
import { asStoreError, disagreeing } from "./postgres-errors.ts";
import { prepareSchema } from "./schema.ts";
import type { StoreAddress } from "./store-address.ts";

/** Reading may take long. */
const MAX_READ_MS = 3_600_000;

/**
 * Reads every event that is kept and compares what they add up to with the totals, as they are at one moment, beside
 * servers that commit. It finds what went wrong with our tables; what PostgreSQL knows of its own pages, `pg_amcheck` reads.
 *
 * @throws StoreError when the database cannot be worked with, or totals are less than their events.
 */
export async function checkSchema(
  address: StoreAddress,
  { schema, timeoutMs }: { readonly schema: string; readonly timeoutMs: number },
): Promise<void> {
  const where = { place: address.place, schema };
  const connections = new Connections(address, { connections: 1, timeoutMs });
  try {
    await prepareSchema(connections, where, monotonicMs() + timeoutMs);
    const untilMs = monotonicMs() + MAX_READ_MS;
    const [wrong] = await connections.transaction(
      (run) => run<{ key_id: string }>({ text: comparedIn(schema) }),
      untilMs,
    );
    if (wrong !== undefined) throw disagreeing(where, wrong.key_id);
  } catch (error) {
    throw asStoreError(error, where);
  } finally {
    await connections.close();
  }
}

/** One key whose totals are less than its events, or which is not there. */
function comparedIn(schema: string): string {
  return `
    SELECT event.key_id FROM (
      SELECT key_id, count(*) AS requests, sum(input_chars) AS input_chars, sum(input_ticks) AS input_ticks,
             sum(output_ticks) AS output_ticks, max(ts) AS last_ts
      FROM "${schema}".usage_events GROUP BY key_id
    ) AS event
    LEFT JOIN "${schema}".usage_totals AS total USING (key_id)
    LEFT JOIN "${schema}".keys AS key USING (key_id)
    WHERE key.hash IS NULL OR total.requests IS NULL OR total.requests < event.requests
       OR total.input_chars < event.input_chars OR total.input_ticks < event.input_ticks
       OR total.output_ticks < event.output_ticks OR total.last_ts < event.last_ts
    ORDER BY key_id LIMIT 1`;
}
