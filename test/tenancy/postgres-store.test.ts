import { describe } from "node:test";
import { type PostgresStoreOptions, postgresStore } from "../../src/tenancy/postgres/postgres-store.ts";
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
    postgresStore({ ...DEFAULTS, url: await server.url(), ...options });

  storeConformance("postgres", () => opened());
});
