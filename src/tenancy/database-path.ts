import { join } from "node:path";

/** Where the database of keys and usage is in a data directory. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "antiphon.db");
}
