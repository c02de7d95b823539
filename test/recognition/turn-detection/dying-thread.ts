import { parentPort } from "node:worker_threads";

/** A thread that dies over its first call. */
parentPort?.once("message", () => process.exit(3));
