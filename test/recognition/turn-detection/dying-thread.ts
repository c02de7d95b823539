import { parentPort } from "node:worker_threads";

/** Exits on its first call. */
parentPort?.once("message", () => process.exit(3));
