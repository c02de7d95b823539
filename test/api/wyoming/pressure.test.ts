import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, test } from "node:test";
import pino from "pino";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../http/start.ts";
import { audioOf, WyomingClient } from "./client.ts";
import { type LaterClock, laterClock } from "./later.ts";

const HOME = { rate: 16_000, width: 2, channels: 1 };
/** Some seconds of it, less than what memory is asked for. */
const SOUND = new Uint8Array(60_000);
const ALL = 64;

interface Crowd {
  readonly server: TestServer;
  readonly clients: WyomingClient[];
  readonly log: { text: string };
  readonly clock: LaterClock;
  open(): Promise<WyomingClient>;
}

/** A server with as many clients as it takes, of which each has done that and was answered a ping after it. */
async function withCrowd(
  greet: (client: WyomingClient) => void,
  work: (crowd: Crowd) => Promise<void>,
  options: TestServerOptions = {},
): Promise<void> {
  const log = { text: "" };
  const sink = new Writable({
    write(line, _encoding, done) {
      log.text += line;
      done();
    },
  });
  const recogniser = new ScriptedRecogniser();
  const server = await startTestServer({ wyoming: true, recogniser, logger: pino({}, sink), ...options });
  const clock = laterClock();
  const clients: WyomingClient[] = [];
  const open = async () => {
    const client = await WyomingClient.open(server.wyomingUrl!);
    clients.push(client);
    return client;
  };
  try {
    for (let i = 0; i < ALL; i++) {
      const client = await open();
      greet(client);
      client.send("ping");
      await client.upTo("pong");
    }
    await work({ server, clients, log, clock, open });
  } finally {
    clock.restore();
    for (const client of clients) client.close();
    await server.stop();
  }
}

async function isTurnedAway(client: WyomingClient): Promise<void> {
  const [error, ...none] = await client.rest();
  assert.match(error?.data.text, /too many connections are busy/);
  assert.deepEqual(none, []);
}

async function isServed(client: WyomingClient): Promise<void> {
  client.send("ping");
  await client.upTo("pong");
}

describe("where there are as many connections as there may be", () => {
  for (const [what, type, route] of [
    ["recordings", "audio-start", "transcribe"],
    ["texts", "synthesize-start", "synthesize"],
  ] as const) {
    test(`${what} that were opened and are empty give way at once, the oldest first, and the log says why`, () =>
      withCrowd(
        (client) => client.send(type, HOME),
        async ({ server, clients, log, open }) => {
          for (const oldest of clients.slice(0, 2)) {
            const newcomer = await open();
            await isServed(newcomer);
            assert.deepEqual(await oldest.rest(), []);
            // Being idle, it would be the next to give way.
            newcomer.send(type, HOME);
            await isServed(newcomer);
          }
          await isServed(clients[2]!);
          const left = `requests_ended_total{route="wyoming:${route}",end="left",type="none"}`;
          await until("their ends being counted", async () => (await server.metric(left)) === 2);
          const lines = log.text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line));
          const because = lines
            .filter((line) => line.route === `wyoming:${route}`)
            .map((line) => line.left_because);
          const why = "it sent nothing while others waited";
          assert.deepEqual(because, [why, why]);
        },
      ));
  }

  test("recordings that come are heard, and the newcomer is turned away", () =>
    withCrowd(
      (client) => {
        client.send("audio-start", HOME);
        client.send("audio-chunk", HOME, SOUND);
      },
      async ({ clients, open }) => {
        const crowd = [...clients];
        await isTurnedAway(await open());
        for (const client of crowd) {
          client.send("audio-stop");
          await client.upTo("transcript");
        }
      },
    ));

  test("recordings that came at once and then no more give way after some seconds", () =>
    withCrowd(
      (client) => {
        client.send("audio-start", HOME);
        client.send("audio-chunk", HOME, new Uint8Array(128 * 1024));
      },
      async ({ clients, log, clock, open }) => {
        await isTurnedAway(await open());
        clock.pass(4_000);
        await isServed(await open());
        assert.deepEqual(await clients[0]!.rest(), []);
        await until("its end being logged", () =>
          log.text.includes("it sent too slowly while others waited"),
        );
      },
    ));

  for (const [what, text, spokenBytes] of [
    ["words without an end", "a", 0],
    ["sentences that were spoken", "One. Two", 4 * 2_880],
  ] as const) {
    test(`texts of ${what} give way once the next word has been missing for long`, () =>
      withCrowd(
        (client) => {
          client.send("synthesize-start");
          client.send("synthesize-chunk", { text });
        },
        async ({ clients, log, clock, open }) => {
          await until("all that came being said", () =>
            clients.every(({ events }) => audioOf(events).length === spokenBytes),
          );
          await isTurnedAway(await open());
          clock.pass(8_000);
          clients[0]!.send("synthesize-chunk", { text: "b" });
          await isServed(clients[0]!);
          clock.pass(3_000);
          await isServed(await open());
          await clients[1]!.rest();
          await isServed(clients[0]!);
          await until("its end being logged", () =>
            log.text.includes("it sent no words while others waited"),
          );
        },
        { flags: { concurrency: `${ALL}` } },
      ));
  }

  test("texts that are being spoken stay, however long their client says nothing", () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    return withCrowd(
      (client) => {
        client.send("synthesize-start");
        client.send("synthesize-chunk", { text: "It is good to hear from you. And" });
      },
      async ({ clock, open }) => {
        clock.pass(20_000);
        await isTurnedAway(await open());
        letGo();
      },
      { tone: { beforeFrame: () => held } },
    ).finally(letGo);
  });

  test("who is over its budget gives way, whatever it has open", () =>
    withCrowd(
      (client) => {
        client.send("audio-start", HOME);
        client.send("audio-chunk", HOME, SOUND);
      },
      async ({ clients, log, open }) => {
        const greedy = clients[40]!;
        const text = "a".repeat(100_000);
        for (let i = 0; i < 8; i++) greedy.send("ping", { text });
        await until("its being slowed", () => log.text.includes("wyoming connection slowed"));
        await isServed(await open());
        await greedy.rest();
        assert.ok(greedy.events.length < 9);
        assert.doesNotMatch(log.text, /aaa/);
      },
    ));
});
