import { workerData } from "node:worker_threads";
import { answerCalls } from "../../workers/calls/answer-calls.ts";
import { toWire } from "./libsql-errors.ts";
import { type LedgerThreadData, ledgerOperations } from "./libsql-operations.ts";

/** A thread of its own for libsql, which blocks. */
const site = workerData as LedgerThreadData;

answerCalls(ledgerOperations(site), (thrown) => toWire(thrown, site.path));
