import { memoryBuckets } from "../../../src/accounts/buckets.ts";
import { newEventId, type Store } from "../../../src/accounts/store.ts";
import { type Tenancy, tenancyOn } from "../../../src/accounts/tenancy.ts";
import { until } from "../../waiting.ts";
import { usage } from "./postgres-stores.ts";

export interface Load {
  readonly acknowledged: Set<string>;
  readonly refused: unknown[];
  /** Resolves once `count` more commits are acknowledged. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Commits usage on every store, as servers do, until `work` is over. Leaves the stores open. */
export async function withLoad(
  stores: readonly Store[],
  keyIds: readonly string[],
  work: (load: Load) => Promise<void>,
): Promise<void> {
  const load = started(stores, keyIds);
  try {
    await work(load);
  } finally {
    await load.stop();
  }
}

function started(stores: readonly Store[], keyIds: readonly string[]): Load {
  const acknowledged = new Set<string>();
  const refused: unknown[] = [];
  let isOver = false;
  let next = 0;
  const client = async (server: Tenancy) => {
    while (!isOver) {
      const record = usage(newEventId(), keyIds[next++ % keyIds.length]!, next);
      try {
        await server.commit(record);
        acknowledged.add(record.eventId);
      } catch (error) {
        refused.push(error);
      }
    }
  };
  const clients = stores.flatMap((store) => {
    const server = tenancyOn(store, { anonymous: { rpm: 60, burst: 60 }, buckets: memoryBuckets() });
    return Array.from({ length: AT_ONCE }, () => client(server));
  });
  return {
    acknowledged,
    refused,
    more(count) {
      const enough = acknowledged.size + count;
      return until(`${enough} acknowledged commits`, () => acknowledged.size >= enough);
    },
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

/** Concurrent requests per server. */
const AT_ONCE = 16;
