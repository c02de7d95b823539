import { parentPort, workerData } from "node:worker_threads";
import { type Ledger, ledgerOn } from "./ledger.ts";
import { openDatabase } from "./libsql-database.ts";
import { asStoreError } from "./libsql-errors.ts";
import type { StoreProblem } from "./store-error.ts";

/** Something to do on the ledger; answered under the same id. `close` ends the thread, unanswered. */
export type Order =
  | { readonly id: number; readonly operation: keyof Ledger; readonly parameters: readonly unknown[] }
  | "close";

/** Errors cross the thread as their parts, since a clone would lose their class. The first answer, 0, is the opening. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly problem: StoreProblem; readonly message: string };

const path = String(workerData);

function attempt(id: number, work: () => unknown): void {
  try {
    parentPort?.postMessage({ id, value: work() } satisfies Answer);
  } catch (error) {
    const { problem, message } = asStoreError(error, path);
    parentPort?.postMessage({ id, problem, message } satisfies Answer);
  }
}

attempt(0, () => {
  const database = openDatabase(path);
  const ledger = ledgerOn(database);
  parentPort?.on("message", (order: Order) => {
    if (order === "close") {
      database.close();
      parentPort?.close();
      return;
    }
    const operation = ledger[order.operation] as (...parameters: readonly unknown[]) => unknown;
    attempt(order.id, () => operation(...order.parameters));
  });
});
