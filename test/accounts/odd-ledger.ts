import { workerData } from "node:worker_threads";
import { toWire } from "../../src/accounts/libsql/libsql-errors.ts";
import { type LedgerThreadData, ledgerOperations } from "../../src/accounts/libsql/libsql-operations.ts";
import { answerCalls } from "../../src/workers/calls/answer-calls.ts";
import { FATES } from "./fates.ts";

/** A database thread that ends before or after its next call, as the cell says. Probes are exempt. */
const { site, cells } = workerData as { readonly site: LedgerThreadData; readonly cells: Int32Array };

type Operation = (...parameters: unknown[]) => unknown;

function fated(operation: Operation): Operation {
  return (...parameters) => {
    const fate = Atomics.exchange(cells, 0, FATES.lives);
    if (fate === FATES.diesBefore) process.exit(1);
    const value = operation(...parameters);
    if (fate === FATES.diesAfter) process.exit(1);
    return value;
  };
}

const operations = ledgerOperations(site);
const fatedOperations = new Proxy(operations, {
  get: (_, name: string) => (name === "open" ? operations.open : fated(operations[name]!)),
});
answerCalls(fatedOperations, (thrown) => toWire(thrown, site.path));
