import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, test } from "node:test";
import pino from "pino";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { WyomingClient } from "./client.ts";
import { type LaterClock, laterClock } from "./later.ts";

const HOME = { rate: 16_000, width: 2, channels: 1 };
const MIB = 1024 * 1024;
const NO_MORE_THAN_A_BODY = {
  queueWaitMs: "300",
  receivingBudgetMb: "16",
  bodyLimitBytes: `${15 * MIB}`,
};

interface Room {
  readonly server: TestServer;
  readonly clock: LaterClock;
  readonly log: { text: string };
  /** A client that has sent so many MiB of a recording, at once. */
  sending(mib: number): Promise<WyomingClient>;
}

async function withRoom(flags: Record<string, string>, work: (room: Room) => Promise<void>): Promise<void> {
  const log = { text: "" };
  const sink = new Writable({
    write(line, _encoding, done) {
      log.text += line;
      done();
    },
  });
  const recogniser = new ScriptedRecogniser();
  const server = await startTestServer({ wyoming: true, recogniser, flags, logger: pino({}, sink) });
  const clock = laterClock();
  const clients: WyomingClient[] = [];
  const sending = async (mib: number) => {
    const client = await WyomingClient.open(server.wyomingUrl!);
    clients.push(client);
    client.send("audio-start", HOME);
    for (let i = 0; i < mib; i++) client.send("audio-chunk", HOME, new Uint8Array(MIB));
    return client;
  };
  try {
    await work({ server, clock, log, sending });
  } finally {
    clock.restore();
    for (const client of clients) client.close();
    await server.stop();
  }
}

async function taken(client: WyomingClient): Promise<void> {
  client.send("ping");
  await client.upTo("pong");
}

describe("room for recordings", () => {
  test("is not that of other keys' bodies", () =>
    withRoom(NO_MORE_THAN_A_BODY, async ({ server, sending }) => {
      await taken(await sending(8));
      const other = await server.another();
      const body = `{"text":"Me."${" ".repeat(14_700_000)}}`;
      const reply = await server.post("/v1/tts", body, other.auth);
      assert.equal(reply.status, 200, await reply.text());
    }));

  test("is lost by those who were fast and send nothing more, where another recording waits for it", () =>
    withRoom({}, async ({ server, clock, log, sending }) => {
      const silent: WyomingClient[] = [];
      for (let i = 0; i < 3; i++) {
        const client = await sending(8);
        await taken(client);
        silent.push(client);
      }
      clock.pass(5_000);
      const eager = await sending(8);
      eager.send("audio-stop");
      await eager.upTo("transcript");
      for (const client of silent) assert.deepEqual(await client.rest(), []);
      const left = 'requests_ended_total{route="wyoming:transcribe",end="left",type="none"}';
      await until("their ends being counted", async () => (await server.metric(left)) === 3);
      const lines = log.text.trim().split("\n");
      const reasons = lines.map((line) => JSON.parse(line).left_because).filter(Boolean);
      assert.deepEqual(reasons, Array(3).fill("it sent too slowly while others waited"));
    }));

  test("is kept by those who pause where nobody waits for it", () =>
    withRoom({}, async ({ clock, sending }) => {
      const [silent, other] = [await sending(8), await sending(8)];
      await taken(silent);
      clock.pass(60_000);
      other.send("audio-stop");
      await other.upTo("transcript");
      silent.send("audio-stop");
      await silent.upTo("transcript");
    }));

  test("is not waited for for long by those who hold some, so that they do not wait for each other", () =>
    withRoom({ queueWaitMs: "300" }, async ({ sending }) => {
      const clients: WyomingClient[] = [];
      for (let i = 0; i < 3; i++) {
        const client = await sending(8);
        await taken(client);
        clients.push(client);
      }
      for (const client of clients) {
        client.send("audio-chunk", HOME, new Uint8Array(MIB));
        client.send("audio-stop");
      }
      const ends = await Promise.all(clients.map(async (client) => (await client.next())!));
      const types = ends.map(({ type }) => type);
      assert.ok(types.includes("transcript") && types.includes("error"), types.join());
      for (const { type, data } of ends) {
        if (type === "error") assert.match(data.text, /at its capacity \(recordings\)/);
      }
    }));
});
