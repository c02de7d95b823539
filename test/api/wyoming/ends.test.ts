import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until, within } from "../../waiting.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../http/start.ts";
import { audioOf, WyomingClient } from "./client.ts";

const LONG = "It is good to hear from you. ".repeat(270).trimEnd();

async function withServer(
  options: TestServerOptions,
  work: (server: TestServer, client: WyomingClient) => Promise<void>,
): Promise<void> {
  const server = await startTestServer({ wyoming: true, ...options });
  const client = await WyomingClient.open(server.wyomingUrl!);
  try {
    await work(server, client);
  } finally {
    client.close();
    await server.stop();
  }
}

/** So many clients more, of which each was answered. */
async function connected(server: TestServer, count: number): Promise<WyomingClient[]> {
  const clients: WyomingClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await WyomingClient.open(server.wyomingUrl!);
    client.send("ping");
    await client.upTo("pong");
    clients.push(client);
  }
  return clients;
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const ended = (server: TestServer, end: string): Promise<number> =>
  server.metric(`requests_ended_total{route="wyoming:synthesize",end="${end}",type="none"}`);

describe("a client that goes", () => {
  test("ends what is spoken for it, and what it took is metered", () => {
    const { opened, open } = gate();
    const beforeFrame = (index: number) => (index < 3 ? undefined : opened);
    return withServer({ tone: { beforeFrame } }, async (server, client) => {
      client.send("synthesize", { text: LONG });
      await client.upTo("audio-chunk");
      client.close();
      await until("its end", async () => (await ended(server, "left")) === 1);
      open();
      assert.equal(await server.begun(), 0);
      const usage = await (await server.get("/v1/usage")).json();
      assert.equal(usage.requests, 1);
      assert.ok(
        usage.output_audio_seconds > 0 && usage.output_audio_seconds <= 0.24,
        `${usage.output_audio_seconds}`,
      );
    });
  });

  test("inside of a stream of text, or of an event, leaves nothing behind", () =>
    withServer({}, async (server, client) => {
      client.send("synthesize-start");
      client.send("synthesize-chunk", { text: "It is good to hear" });
      client.send("ping");
      await client.upTo("pong");
      client.socket.end('{"type":"synthesize-chunk","data_leng');
      await until("its end", async () => (await ended(server, "left")) === 1);
      const next = await WyomingClient.open(server.wyomingUrl!);
      next.send("synthesize", { text: "One." });
      await next.upTo("audio-stop");
      next.close();
      assert.equal(await server.begun(), 0);
    }));
});

describe("a client that reads nothing", () => {
  test("has no more computed for it than it takes, and gets all once it reads", () => {
    let computed = 0;
    const beforeFrame = (): void => {
      computed++;
    };
    return withServer({ tone: { beforeFrame } }, async (_server, client) => {
      client.socket.pause();
      client.send("synthesize", { text: LONG });
      let before = -1;
      await until("nothing more being computed", async () => {
        const isResting = computed > 0 && computed === before;
        before = computed;
        for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
        return isResting && computed === before;
      });
      const all = Math.ceil((LONG.length * 1_440) / 1_920);
      assert.ok(computed < all, `${computed} of ${all} frames`);
      client.socket.resume();
      const events = await client.upTo("audio-stop");
      assert.equal(audioOf(events).length, LONG.length * 2_880);
    });
  });

  test("is let go when it has taken nothing for too long", () =>
    withServer({ flags: { stallTimeoutMs: "1000" } }, async (server, client) => {
      client.socket.pause();
      client.send("synthesize", { text: LONG });
      await until("its end", async () => (await ended(server, "left")) === 1);
      assert.equal(await server.begun(), 0);
    }));
});

describe("a server that stops", () => {
  test("lets go who asks for nothing, finishes what is spoken, and takes nobody new", async () => {
    const { opened, open } = gate();
    const server = await startTestServer({
      wyoming: true,
      tone: { beforeFrame: (index) => (index < 2 ? undefined : opened) },
    });
    const [idle, busy] = [
      await WyomingClient.open(server.wyomingUrl!),
      await WyomingClient.open(server.wyomingUrl!),
    ];
    busy.send("synthesize", { text: "It is good to hear from you." });
    await busy.upTo("audio-chunk");
    const stopped = server.stop();
    assert.deepEqual(await idle.rest(), []);
    await assert.rejects(WyomingClient.open(server.wyomingUrl!), { code: "ECONNREFUSED" });
    open();
    await busy.upTo("audio-stop");
    assert.deepEqual(await busy.rest(), []);
    await within("the stop", stopped);
  });

  test("tells who is not done within the grace", async () => {
    const { opened, open } = gate();
    const server = await startTestServer({
      wyoming: true,
      flags: { shutdownGraceMs: "50" },
      tone: { beforeFrame: (index) => (index < 2 ? undefined : opened) },
    });
    const [whole, stream] = [
      await WyomingClient.open(server.wyomingUrl!),
      await WyomingClient.open(server.wyomingUrl!),
    ];
    whole.send("synthesize", { text: "It is good to hear from you." });
    await whole.upTo("audio-chunk");
    stream.send("synthesize-start");
    stream.send("ping");
    await stream.upTo("pong");
    await within("the stop", server.stop());
    open();
    const last = (await whole.rest()).at(-1);
    assert.equal(last?.type, "error");
    assert.match(last?.data.text, /the server is shutting down/);
    assert.deepEqual(
      (await stream.rest()).map(({ type }) => type),
      ["error", "synthesize-stopped"],
    );
  });
});

describe("what is no event", () => {
  for (const [what, bytes] of [
    ["a request of HTTP", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a line of 1 MB", `{"type":"${"a".repeat(1_000_000)}`],
    ["a payload of a petabyte", '{"type":"audio-chunk","payload_length":1000000000000000}\n'],
    ["noise", Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7919) % 256))],
  ] as const) {
    test(`is an error and the end of the connection, and of nothing else: ${what}`, () =>
      withServer({}, async (server, client) => {
        client.socket.write(bytes);
        const rest = await client.rest();
        assert.deepEqual(
          rest.map(({ type, data }) => [type, data.code]),
          [["error", "invalid_request"]],
        );
        const next = await WyomingClient.open(server.wyomingUrl!);
        next.send("ping");
        await next.upTo("pong");
        next.close();
      }));
  }

  test("ends a stream of text that is open, too", () =>
    withServer({}, async (_server, client) => {
      client.send("synthesize-start");
      client.socket.write("nonsense\n");
      assert.deepEqual(
        (await client.rest()).map(({ type }) => type),
        ["error", "synthesize-stopped", "error"],
      );
    }));
});

describe("where there are as many connections as there may be", () => {
  test("who has been idle longest makes room, and then who is longest inside of an event", () =>
    withServer({}, async (server, slow) => {
      slow.socket.write('{"type":"ping"}\n{"type":');
      await slow.upTo("pong");
      const [idle, ...others] = await connected(server, 63);
      others.push(...(await connected(server, 1)));
      assert.deepEqual(await idle?.rest(), []);
      for (const client of others) {
        client.socket.write('{"type":"ping"}\n{"type":');
        await client.upTo("pong");
      }
      others.push(...(await connected(server, 1)));
      assert.deepEqual(await slow.rest(), []);
      others[0]?.socket.write('"ping"}\n');
      await others[0]?.upTo("pong");
      for (const client of others) client.close();
    }));

  test("who sends words stays, and the newcomer is turned away until a stream has failed", () =>
    withServer({}, async (server, first) => {
      const clients = [first, ...(await connected(server, 63))];
      for (const client of clients) {
        client.send("synthesize-start");
        client.send("synthesize-chunk", { text: "It is" });
        client.send("ping");
        await client.upTo("pong");
      }
      const late = await WyomingClient.open(server.wyomingUrl!);
      const [error, ...none] = await late.rest();
      assert.match(error?.data.text, /too many connections are busy/);
      assert.deepEqual(none, []);
      first.send("synthesize-chunk", { text: "a".repeat(8_001) });
      await first.upTo("synthesize-stopped");
      clients.push(...(await connected(server, 1)));
      assert.deepEqual(await first.rest(), []);
      for (const client of clients) client.close();
    }));

  test("many pings at once are all answered, in their order", () =>
    withServer({}, async (_server, client) => {
      for (let i = 0; i < 300; i++) client.send("ping", { text: `${i}` });
      for (let i = 0; i < 300; i++) assert.equal((await client.next())?.data.text, `${i}`);
    }));
});
