import pg, { type Client, type ClientConfig, type QueryConfig, type QueryResultRow } from "pg";
import { monotonicMs } from "../deadline.ts";
import { closedError, losesConnections, TooLateError } from "./postgres-errors.ts";
import type { StoreAddress } from "./store-address.ts";

export interface ConnectionOptions {
  /** Maximum open connections. */
  readonly connections: number;
  /** Maximum milliseconds for connecting, or for one statement. */
  readonly timeoutMs: number;
}

export type Run = <Row extends QueryResultRow>(statement: QueryConfig) => Promise<Row[]>;

/**
 * Pooled connections to one database. A statement without an answer in time is cancelled and its connection closed.
 * When one connection turns out to be dead, all are replaced, since they usually fail together. Rejects with errors
 * of the driver, the network or the database.
 */
export class DatabaseConnections {
  readonly #config: ClientConfig;
  readonly #place: string;
  readonly #timeoutMs: number;
  readonly #slots: TimedSemaphore;
  readonly #idle: Client[] = [];
  /** Usable connections. A failed one, and all that were open with it, are removed. */
  readonly #sound = new Set<Client>();
  /** Running statements, and connections that are closing. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ client, place }: StoreAddress, { connections, timeoutMs }: ConnectionOptions) {
    this.#config = { ...client, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS };
    this.#place = place;
    this.#timeoutMs = timeoutMs;
    this.#slots = new TimedSemaphore(connections);
  }

  /** Runs one statement in its own transaction, abandoned at `untilMs` (monotonic). */
  run<Row extends QueryResultRow>(statement: QueryConfig, untilMs: number): Promise<Row[]> {
    const work = (client: Client) => answered<Row>(client, statement, this.#leftMs(untilMs));
    return this.#followed(this.#onConnection(untilMs, work));
  }

  /** Runs statements as one transaction; each may take until `untilMs`. */
  transaction<T>(work: (run: Run) => Promise<T>, untilMs: number): Promise<T> {
    const whole = async (client: Client): Promise<T> => {
      const run: Run = (statement) => answered(client, statement, untilMs - monotonicMs());
      try {
        // Limits how long the database keeps the locks of a disconnected server.
        await run({ text: `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${this.#timeoutMs}` });
        const result = await work(run);
        await run({ text: "COMMIT" });
        return result;
      } catch (error) {
        // The connection is closed, so the database rolls back the open transaction.
        this.#sound.delete(client);
        throw error;
      }
    };
    return this.#followed(this.#onConnection(untilMs, whole));
  }

  /** Lets running statements finish and refuses new ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const client of this.#idle.splice(0)) this.#end(client);
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #followed<T>(promise: Promise<T>): Promise<T> {
    const followed = promise.finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
    return followed;
  }

  async #onConnection<T>(untilMs: number, work: (client: Client) => Promise<T>): Promise<T> {
    if (!(await this.#slots.acquire(untilMs - monotonicMs())))
      throw new TooLateError("no connection was free");
    let client: Client | undefined;
    let isStuck = false;
    try {
      if (this.#isClosed) throw closedError(this.#place);
      client = this.#idle.pop() ?? (await this.#connected(untilMs));
      return await work(client);
    } catch (error) {
      isStuck = error instanceof TooLateError;
      if (losesConnections(error)) this.#loseAll();
      throw error;
    } finally {
      if (client !== undefined) this.#putBack(client, isStuck);
      this.#slots.release();
    }
  }

  #leftMs(untilMs: number): number {
    return Math.min(this.#timeoutMs, untilMs - monotonicMs());
  }

  async #connected(untilMs: number): Promise<Client> {
    const leftMs = this.#leftMs(untilMs);
    if (leftMs <= 0) throw new TooLateError("no time was left to connect");
    const client = new pg.Client({ ...this.#config, connectionTimeoutMillis: Math.ceil(leftMs) });
    // A broken connection in use also fails its statement; an idle one is not used again.
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    try {
      await client.connect();
    } catch (error) {
      if ((error as Error).message !== "timeout expired") throw error;
      throw new TooLateError(`no connection in ${Math.ceil(leftMs)} ms`);
    }
    this.#sound.add(client);
    return client;
  }

  #putBack(client: Client, isStuck: boolean): void {
    // Behind pgbouncer, the database can only be reached while the connection is open.
    if (isStuck) void cancelled(client, this.#config, this.#timeoutMs).then(() => destroy(client));
    else if (!this.#sound.has(client)) destroy(client);
    else if (this.#isClosed) this.#end(client);
    else this.#idle.push(client);
  }

  #loseAll(): void {
    this.#sound.clear();
    for (const client of this.#idle.splice(0)) destroy(client);
  }

  #lose(client: Client): void {
    this.#sound.delete(client);
    const at = this.#idle.indexOf(client);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Closes a connection, waiting only briefly for the answer. */
  #end(client: Client): void {
    const overdue = setTimeout(() => destroy(client), GOOD_BYE_MS);
    void this.#followed(client.end().finally(() => clearTimeout(overdue)));
  }
}

/** Interval of checks on idle connections, which also keeps routers from dropping them. */
const KEEP_ALIVE_MS = 10_000;
const GOOD_BYE_MS = 1_000;

async function answered<Row extends QueryResultRow>(
  client: Client,
  statement: QueryConfig,
  maxMs: number,
): Promise<Row[]> {
  const query_timeout = Math.ceil(maxMs);
  // The driver would take 0 for no limit.
  if (query_timeout <= 0) throw new TooLateError("no time was left for it");
  try {
    return (await client.query<Row>({ ...statement, query_timeout } as QueryConfig)).rows;
  } catch (error) {
    if ((error as Error).message !== "Query read timeout") throw error;
    throw new TooLateError(`no answer in ${query_timeout} ms`);
  }
}

/** Closes a connection without a Terminate message, which nothing would read. */
function destroy(client: Client): void {
  client.connection.stream.destroy();
}

/**
 * Asks the database over another connection to cancel a client's statement, which could otherwise keep waiting for a
 * lock or a standby. Best effort: it may arrive late or never. Resolves when it was sent and read, or after `maxMs`.
 */
export async function cancelled(client: Client, config: ClientConfig, maxMs: number): Promise<void> {
  const { processID, secretKey } = client as unknown as {
    processID: number | null;
    secretKey: number | null;
  };
  if (processID === null || secretKey === null) return;
  const { ssl, host = "", port = 5432 } = config;
  const connection = new pg.Connection({ ssl } as ConstructorParameters<
    typeof pg.Connection
  >[0]) as CancelConnection;
  await new Promise<void>((resolve) => {
    const overdue = setTimeout(() => connection.stream.destroy(), maxMs);
    connection.on("end", () => {
      clearTimeout(overdue);
      resolve();
    });
    connection.on("error", () => connection.stream.destroy());
    connection.on("connect", () => {
      if (ssl) connection.requestSsl();
      else connection.cancel(processID, secretKey);
    });
    connection.on("sslconnect", () => connection.cancel(processID, secretKey));
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

/** Members that the types omit. */
interface CancelConnection extends pg.Connection {
  connect(portOrSocket: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** A semaphore on which each waiter has its own time limit. */
export class TimedSemaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Resolves to true with a slot, to be given back by {@link release}; to false if none is free in time. */
  async acquire(maxMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(
        () => {
          this.#waiting.delete(go);
          resolve(false);
        },
        Math.max(0, maxMs),
      );
      this.#waiting.add(go);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
