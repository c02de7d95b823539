import assert from "node:assert/strict";
import { Writable } from "node:stream";
import pino from "pino";
import { startTestServer, type TestServer } from "../api/http/start.ts";

type ServerOptions = NonNullable<Parameters<typeof startTestServer>[0]>;

/** A test server that starts with its first use. Internal errors and unhandled rejections fail the use. */
export class LoggedServer {
  readonly #options: ServerOptions;
  /** Log lines of internal errors. */
  readonly #failures: string[] = [];
  #server: Promise<TestServer> | null = null;

  constructor(options: ServerOptions = {}) {
    this.#options = options;
  }

  async use(work: (server: TestServer) => Promise<void>): Promise<void> {
    const write: Writable["_write"] = (line, _encoding, done) => {
      this.#failures.push(`${line}`);
      done();
    };
    const logger = pino({ level: "error" }, new Writable({ write }));
    this.#server ??= startTestServer({ ...this.#options, logger });
    const server = await this.#server;
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      await work(server);
    } finally {
      process.off("unhandledRejection", note);
    }
    assert.deepEqual(unhandled, []);
    assert.deepEqual(this.#failures, []);
  }

  async close(): Promise<void> {
    const server = await this.#server;
    this.#server = null;
    await server?.stop();
  }
}
