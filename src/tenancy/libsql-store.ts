import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Ledger } from "./ledger.ts";
import type { Answer, Order } from "./libsql-thread.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./store-error.ts";

/**
 * Keys and usage in `antiphon.db` in a folder, which is made if it is not there. The database runs in a thread of its
 * own, so that the event loop never waits for a disk.
 *
 * @throws StoreError when the folder is unusable or the database is damaged.
 */
export async function libsqlStore(dataDir: string): Promise<Store> {
  const path = join(dataDir, "antiphon.db");
  const thread = new LedgerThread(path);
  await thread.opened;
  return {
    createKey: (key, hash) => thread.call("createKey", key, hash),
    findKey: (hash) => thread.call("findKey", hash),
    listKeys: () => thread.call("listKeys"),
    revokeKey: (keyId, tsS) => thread.call("revokeKey", keyId, tsS),
    commit: (records) => thread.call("commit", records),
    totals: (keyId) => thread.call("totals", keyId),
    close: () => thread.close(),
  };
}

/** The near side of the database's thread. */
class LedgerThread {
  readonly opened: Promise<unknown>;
  readonly #worker: Worker;
  readonly #gone: Promise<void>;
  readonly #path: string;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  #lastId = 0;
  #end: StoreError | null = null;

  constructor(path: string) {
    this.#path = path;
    this.#worker = new Worker(new URL("./libsql-thread.js", import.meta.url), { workerData: path });
    this.#worker.on("message", (answer: Answer) => this.#settle(answer));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#gone = new Promise((resolve) => this.#worker.once("exit", resolve)).then(() =>
      this.#fail(new Error("its thread ended")),
    );
    this.opened = this.#await(0);
  }

  call<K extends keyof Ledger>(
    operation: K,
    ...parameters: Parameters<Ledger[K]>
  ): Promise<ReturnType<Ledger[K]>> {
    if (this.#end !== null) return Promise.reject(this.#end);
    const id = ++this.#lastId;
    const answer = this.#await(id);
    this.#worker.postMessage({ id, operation, parameters } satisfies Order);
    return answer as Promise<ReturnType<Ledger[K]>>;
  }

  async close(): Promise<void> {
    this.#end ??= new StoreError("closed", `The database ${this.#path} is closed: open it again.`);
    this.#worker.postMessage("close" satisfies Order);
    await this.#gone;
  }

  #await(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #settle(answer: Answer): void {
    const asked = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("problem" in answer) asked?.reject(new StoreError(answer.problem, answer.message));
    else asked?.resolve(answer.value);
  }

  #fail(error: Error): void {
    const message = `The database ${this.#path} stopped working (${error.message}): restart the server.`;
    this.#end ??= new StoreError("failed", message, error);
    for (const { reject } of this.#waiting.values()) reject(this.#end);
    this.#waiting.clear();
  }
}
