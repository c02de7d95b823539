import { libsqlStore } from "../../src/tenancy/libsql-store.ts";
import { memoryStore } from "../../src/tenancy/memory-store.ts";
import { temporaryFolder } from "./folders.ts";
import { storeConformance } from "./store-conformance.ts";

storeConformance("memory", async () => memoryStore());
storeConformance("libsql", () => libsqlStore(temporaryFolder()));
