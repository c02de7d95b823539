import assert from "node:assert/strict";
import { Writable } from "node:stream";
import pino from "pino";
import { startTestServer, type TestServer, type TestServerOptions } from "../http/start.ts";
import { WyomingClient } from "./client.ts";
import { type OffsetClock, offsetClock } from "./offset-clock.ts";

/** The format that Home Assistant sends. */
export const FORMAT = { rate: 16_000, width: 2, channels: 1 };
export const MIB = 1024 * 1024;

export interface WyomingTest {
  readonly server: TestServer;
  readonly clock: OffsetClock;
  log(): string;
  open(): Promise<WyomingClient>;
  /** Opens clients one by one, each of which sends something and is served. */
  openMany(count: number, greet?: (client: WyomingClient) => void): Promise<WyomingClient[]>;
}

/** Starts a server with the bridge, and closes it and its clients after `work`. */
export async function withWyoming(
  options: TestServerOptions,
  work: (wyoming: WyomingTest) => Promise<void>,
): Promise<void> {
  let log = "";
  const sink = new Writable({
    write(line, _encoding, done) {
      log += line;
      done();
    },
  });
  const server = await startTestServer({ wyoming: true, logger: pino({}, sink), ...options });
  const clock = offsetClock();
  const clients: WyomingClient[] = [];
  const open = async () => {
    const client = await WyomingClient.open(server.wyomingUrl!);
    clients.push(client);
    return client;
  };
  const openMany = async (count: number, greet = (_client: WyomingClient) => {}) => {
    const opened: WyomingClient[] = [];
    while (opened.length < count) {
      const client = await open();
      greet(client);
      await assertServed(client);
      opened.push(client);
    }
    return opened;
  };
  try {
    await work({ server, clock, log: () => log, open, openMany });
  } finally {
    clock.restore();
    for (const client of clients) client.close();
    await server.stop();
  }
}

export async function assertServed(client: WyomingClient): Promise<void> {
  client.send("ping");
  await client.upTo("pong");
}

export async function assertTurnedAway(client: WyomingClient): Promise<void> {
  const [error, ...more] = await client.rest();
  assert.match(error?.data.text, /too many connections are busy/);
  assert.deepEqual(more, []);
}

/** Sends an event that is refused and returns the error. */
export async function refusal(
  client: WyomingClient,
  type: string,
  data: object,
): Promise<{ readonly text: string; readonly code: string }> {
  client.send(type, data);
  const [error, ...more] = await client.rest();
  assert.deepEqual([error?.type, more], ["error", []]);
  return error!.data;
}

/** Metered requests of a route that ended in a way. */
export const endsOf = (server: TestServer, route: string, end: string): Promise<number> =>
  server.metric(`requests_ended_total{route="wyoming:${route}",end="${end}",type="none"}`);

export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
