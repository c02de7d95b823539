import { existsSync } from "node:fs";
import { databasePath } from "./database-path.ts";
import { openForReading } from "./libsql-database.ts";
import { asStoreError, damaged } from "./libsql-errors.ts";
import { StoreError } from "./store-error.ts";

/**
 * Reads the whole database of a data directory and compares every index with its table. It blocks for as long as that
 * takes, may be run beside a server, and changes nothing.
 *
 * @throws StoreError when there is no database, or it is not sound.
 */
export function checkDatabase(dataDir: string): void {
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    throw new StoreError("failed", `There is no database ${path}: name its folder with --data-dir.`);
  }
  try {
    const database = openForReading(path, BUSY_MS);
    try {
      const [row] = database.pragma("integrity_check(1)") as { integrity_check?: string }[];
      const finding = row?.integrity_check ?? "the check said nothing";
      if (finding !== "ok") throw damaged(path, finding);
    } finally {
      database.close();
    }
  } catch (error) {
    throw asStoreError(error, path);
  }
}

const BUSY_MS = 5_000;
