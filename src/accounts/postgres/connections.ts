import pg, { type Client, type ClientConfig, type QueryConfig, type QueryResultRow } from "pg";
import { monotonicMs } from "../deadline.ts";
import { closedError, losesConnections, TooLateError } from "./postgres-errors.ts";
import type { StoreAddress } from "./store-address.ts";

export interface ConnectionOptions {
  /** Connections that may be open at once. */
  readonly connections: number;
  /** The longest that connecting, or one statement, may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** Runs a statement of a transaction. */
export type Run = <Row extends QueryResultRow>(statement: QueryConfig) => Promise<Row[]>;

/**
 * Connections to one database, made when they are needed and kept. A statement that is not answered in time is cancelled and
 * costs its connection; and when one turns out to be dead all of them are replaced, since the others were cut off with it
 * more often than not. Rejects with what the driver, the network or the database reports.
 */
export class Connections {
  readonly #config: ClientConfig;
  readonly #place: string;
  readonly #timeoutMs: number;
  readonly #slots: Slots;
  readonly #idle: Client[] = [];
  /** Those that are trusted. One that was lost, or was open when another was, is no longer in it. */
  readonly #sound = new Set<Client>();
  /** What runs, and connections that say good-bye. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ client, place }: StoreAddress, { connections, timeoutMs }: ConnectionOptions) {
    this.#config = { ...client, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS };
    this.#place = place;
    this.#timeoutMs = timeoutMs;
    this.#slots = new Slots(connections);
  }

  /** Runs one statement, a transaction by itself, that is given up at `untilMs` by the monotonic clock. */
  run<Row extends QueryResultRow>(statement: QueryConfig, untilMs: number): Promise<Row[]> {
    const work = (client: Client) => answered<Row>(client, statement, this.#leftMs(untilMs));
    return this.#followed(this.#onConnection(untilMs, work));
  }

  /** Runs statements as one transaction, each of which may take until `untilMs`. */
  transaction<T>(work: (run: Run) => Promise<T>, untilMs: number): Promise<T> {
    const whole = async (client: Client): Promise<T> => {
      const run: Run = (statement) => answered(client, statement, untilMs - monotonicMs());
      try {
        // What a server holds that is cut off in the middle, everybody waits for.
        await run({ text: `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${this.#timeoutMs}` });
        const result = await work(run);
        await run({ text: "COMMIT" });
        return result;
      } catch (error) {
        // Whatever it is in the middle of, the database rolls back.
        this.#sound.delete(client);
        throw error;
      }
    };
    return this.#followed(this.#onConnection(untilMs, whole));
  }

  /** Lets what runs finish, and refuses what would be begun. */
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
    // One in use that breaks says so to its statement, too; an idle one is not used again.
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
    // By way of pgbouncer the database is asked only as long as the connection is there.
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

  /** Says good-bye, and waits for no more than a moment for it to be heard. */
  #end(client: Client): void {
    const overdue = setTimeout(() => destroy(client), GOOD_BYE_MS);
    void this.#followed(client.end().finally(() => clearTimeout(overdue)));
  }
}

/** So often an idle connection is asked whether it is there, which also keeps routers from forgetting it. */
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

/** A good-bye would be said to nobody. */
function destroy(client: Client): void {
  client.connection.stream.destroy();
}

/**
 * Asks the database, over another connection, to give up what a client's is doing; else it would go on waiting, as for a
 * lock or for a standby, although nobody listens any more. It may come too late, or not arrive: nothing hangs on it.
 * Resolves when it has been sent and heard, or its time is over.
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

/** What the types leave out. */
interface CancelConnection extends pg.Connection {
  connect(portOrSocket: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** So many may go at once; the others wait in line, each no longer than it likes. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** True once one has a slot, which {@link release} gives back; false when none was free in time. */
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
