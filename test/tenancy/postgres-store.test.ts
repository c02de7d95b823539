import { describe } from "node:test";
import { type PostgresStoreOptions, postgresStore } from "../../src/tenancy/postgres/postgres-store.ts";
import { storeAddress } from "../../src/tenancy/postgres/store-address.ts";
import type { Store } from "../../src/tenancy/store.ts";
import { startPostgres, WITHOUT_POSTGRES } from "./postgres-server.ts";
import { storeConformance } from "./store-conformance.ts";

const DEFAULTS = {
  schema: "antiphon",
  connections: 3,
  timeoutMs: 2_000,
  commitTimeoutMs: 10_000,
  eventsKeptDays: 3,
};

describe("PostgreSQL", { skip: WITHOUT_POSTGRES }, async () => {
  const server = await startPostgres();
  const opened = async (options: Partial<PostgresStoreOptions> = {}): Promise<Store> =>
    postgresStore(storeAddress(await server.url()), { ...DEFAULTS, ...options });

  storeConformance("postgres", () => opened());
});
