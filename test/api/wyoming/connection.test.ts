import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until, within } from "../../waiting.ts";
import type { TestServerOptions } from "../http/start.ts";
import { type BareBridge, type BareBridgeOptions, bareBridge } from "./bare-bridge.ts";
import { audioOf, WyomingClient } from "./client.ts";
import {
  assertServed,
  assertTurnedAway,
  endsOf,
  FORMAT,
  gate,
  type WyomingTest,
  withWyoming,
} from "./wyoming-server.ts";

const SENTENCE = "It is good to hear from you.";
const LONG = `${SENTENCE} `.repeat(270).trimEnd();

describe("a client that disconnects", () => {
  it("stops its speech and pays for what it received", () => {
    const { opened, open: release } = gate();
    const beforeFrame = (index: number) => (index < 3 ? undefined : opened);
    return withWyoming({ tone: { beforeFrame } }, async ({ server, open }) => {
      const client = await open();
      client.send("synthesize", { text: LONG });
      await client.upTo("audio-chunk");
      client.close();
      await until("its end", async () => (await endsOf(server, "synthesize", "left")) === 1);
      release();
      assert.equal(await server.begun(), 0);
      const { requests, output_audio_seconds: seconds } = await (await server.get("/v1/usage")).json();
      assert.equal(requests, 1);
      assert.ok(seconds > 0 && seconds <= 0.24, `${seconds}`);
    });
  });

  it("inside a text stream and an event leaves nothing behind", () =>
    withWyoming({}, async ({ server, open, openMany }) => {
      const [client] = await openMany(1, (each) => {
        each.send("synthesize-start");
        each.send("synthesize-chunk", { text: "It is good to hear" });
      });
      client!.socket.end('{"type":"synthesize-chunk","data_leng');
      await until("its end", async () => (await endsOf(server, "synthesize", "left")) === 1);
      const next = await open();
      next.send("synthesize", { text: "One." });
      await next.upTo("audio-stop");
      next.close();
      assert.equal(await server.begun(), 0);
    }));
});

describe("a client that does not read", () => {
  it("pauses the synthesis, and receives everything once it reads", () => {
    let computed = 0;
    const beforeFrame = (): void => {
      computed++;
    };
    return withWyoming({ tone: { beforeFrame } }, async ({ open }) => {
      const client = await open();
      client.socket.pause();
      client.send("synthesize", { text: LONG });
      let before = -1;
      await until("the synthesis to pause", async () => {
        const isResting = computed > 0 && computed === before;
        before = computed;
        for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
        return isResting && computed === before;
      });
      const all = Math.ceil((LONG.length * 1_440) / 1_920);
      assert.ok(computed < all, `${computed} of ${all} frames`);
      client.socket.resume();
      assert.equal(audioOf(await client.upTo("audio-stop")).length, LONG.length * 2_880);
    });
  });

  it("is disconnected after the stall time-out", () =>
    withWyoming({ flags: { stallTimeoutMs: "1000" } }, async ({ server, open }) => {
      const client = await open();
      client.socket.pause();
      client.send("synthesize", { text: LONG });
      await until("its end", async () => (await endsOf(server, "synthesize", "left")) === 1);
      assert.equal(await server.begun(), 0);
    }));
});

describe("a server that stops", () => {
  it("disconnects idle clients, finishes speech and accepts no new clients", () => {
    const { opened, open: release } = gate();
    const beforeFrame = (index: number) => (index < 2 ? undefined : opened);
    return withWyoming({ tone: { beforeFrame } }, async ({ server, open }) => {
      const [idle, busy] = [await open(), await open()];
      busy.send("synthesize", { text: SENTENCE });
      await busy.upTo("audio-chunk");
      const stopped = server.stop();
      assert.deepEqual(await idle.rest(), []);
      await assert.rejects(open(), { code: "ECONNREFUSED" });
      release();
      await busy.upTo("audio-stop");
      assert.deepEqual(await busy.rest(), []);
      await within("the stop", stopped);
    });
  });

  it("sends an error to requests that outlast the grace period", () => {
    const { opened, open: release } = gate();
    const tone = { beforeFrame: (index: number) => (index < 2 ? undefined : opened) };
    return withWyoming({ flags: { shutdownGraceMs: "50" }, tone }, async ({ server, open, openMany }) => {
      const whole = await open();
      whole.send("synthesize", { text: SENTENCE });
      await whole.upTo("audio-chunk");
      const [stream] = await openMany(1, (each) => each.send("synthesize-start"));
      await within("the stop", server.stop());
      release();
      const last = (await whole.rest()).at(-1);
      assert.equal(last?.type, "error");
      assert.match(last?.data.text, /the server is shutting down/);
      const types = (await stream!.rest()).map(({ type }) => type);
      assert.deepEqual(types, ["error", "synthesize-stopped"]);
    });
  });
});

describe("an invalid event", () => {
  it("is an error, and ends its connection alone", () =>
    withWyoming({}, async ({ open, openMany }) => {
      for (const bytes of [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        `{"type":"${"a".repeat(1_000_000)}`,
        '{"type":"audio-chunk","payload_length":1000000000000000}\n',
        Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7919) % 256)),
      ]) {
        const client = await open();
        client.socket.write(bytes);
        const [error, ...more] = await client.rest();
        assert.deepEqual([error?.type, error?.data.code, more], ["error", "invalid_request", []]);
        await openMany(1);
      }
    }));

  it("ends an open text stream as well", () =>
    withWyoming({}, async ({ open }) => {
      const client = await open();
      client.send("synthesize-start");
      client.socket.write("nonsense\n");
      const types = (await client.rest()).map(({ type }) => type);
      assert.deepEqual(types, ["error", "synthesize-stopped", "error"]);
    }));
});

it("many pings at once are answered in order", () =>
  withWyoming({}, async ({ open }) => {
    const client = await open();
    for (let i = 0; i < 300; i++) client.send("ping", { text: `${i}` });
    for (let i = 0; i < 300; i++) assert.equal((await client.next())?.data.text, `${i}`);
  }));

const ALL = 64;
/** Some seconds of audio, too little to ask for memory. */
const SOUND = new Uint8Array(60_000);
const startText = (client: WyomingClient, text: string) => {
  client.send("synthesize-start");
  client.send("synthesize-chunk", { text });
};
const startRecording = (client: WyomingClient, bytes: Uint8Array) => {
  client.send("audio-start", FORMAT);
  client.send("audio-chunk", FORMAT, bytes);
};

describe("with as many connections as allowed", () => {
  const withCrowd = (
    greet: (client: WyomingClient) => void,
    work: (crowd: WyomingTest & { readonly clients: readonly WyomingClient[] }) => Promise<void>,
    options: TestServerOptions = {},
  ) =>
    withWyoming({ recogniser: new ScriptedRecogniser(), ...options }, async (wyoming) =>
      work({ ...wyoming, clients: await wyoming.openMany(ALL, greet) }),
    );

  it("the longest idle one makes room, then the longest inside an event", () =>
    withWyoming({}, async ({ open, openMany }) => {
      const halfEvent = async (client: WyomingClient) => {
        client.socket.write('{"type":"ping"}\n{"type":');
        await client.upTo("pong");
      };
      const slow = await open();
      await halfEvent(slow);
      const [idle, ...others] = await openMany(ALL - 1);
      others.push(...(await openMany(1)));
      assert.deepEqual(await idle?.rest(), []);
      for (const client of others) await halfEvent(client);
      await openMany(1);
      assert.deepEqual(await slow.rest(), []);
      others[0]?.socket.write('"ping"}\n');
      await others[0]?.upTo("pong");
    }));

  it("a newcomer is turned away while all stream words, until one fails", () =>
    withCrowd(
      (client) => startText(client, "It is"),
      async ({ clients: [first], open, openMany }) => {
        await assertTurnedAway(await open());
        first!.send("synthesize-chunk", { text: "a".repeat(8_001) });
        await first!.upTo("synthesize-stopped");
        await openMany(1);
        assert.deepEqual(await first!.rest(), []);
      },
    ));

  for (const [what, type, route] of [
    ["recordings", "audio-start", "transcribe"],
    ["texts", "synthesize-start", "synthesize"],
  ] as const) {
    it(`empty ${what} make room at once, the oldest first, and the log says why`, () =>
      withCrowd(
        (client) => client.send(type, FORMAT),
        async ({ server, clients, log, openMany }) => {
          for (const oldest of clients.slice(0, 2)) {
            const [newcomer] = await openMany(1);
            assert.deepEqual(await oldest.rest(), []);
            // An idle one would be the next to make room.
            newcomer!.send(type, FORMAT);
            await assertServed(newcomer!);
          }
          await assertServed(clients[2]!);
          await until("their ends to be counted", async () => (await endsOf(server, route, "left")) === 2);
          const lines = log().trim().split("\n");
          const ends = lines
            .map((line) => JSON.parse(line))
            .filter((line) => line.route === `wyoming:${route}`);
          const why = "it sent nothing while others waited";
          assert.deepEqual(
            ends.map((line) => line.left_because),
            [why, why],
          );
        },
      ));
  }

  it("arriving recordings are transcribed and a newcomer is turned away", () =>
    withCrowd(
      (client) => startRecording(client, SOUND),
      async ({ clients, open }) => {
        await assertTurnedAway(await open());
        for (const client of clients) {
          client.send("audio-stop");
          await client.upTo("transcript");
        }
      },
    ));

  it("stalled recordings make room after some seconds", () =>
    withCrowd(
      (client) => startRecording(client, new Uint8Array(128 * 1024)),
      async ({ clients, log, clock, open, openMany }) => {
        await assertTurnedAway(await open());
        clock.pass(4_000);
        await openMany(1);
        assert.deepEqual(await clients[0]!.rest(), []);
        await until("a log line", () => log().includes("it sent too slowly while others waited"));
      },
    ));

  for (const [what, text, spokenBytes] of [
    ["unfinished words", "a", 0],
    ["spoken sentences", "One. Two", 4 * 2_880],
  ] as const) {
    it(`texts of ${what} make room once the next word is long overdue`, () =>
      withCrowd(
        (client) => startText(client, text),
        async ({ clients, log, clock, open, openMany }) => {
          const isSpoken = ({ events }: WyomingClient) => audioOf(events).length === spokenBytes;
          await until("all texts to be spoken", () => clients.every(isSpoken));
          await assertTurnedAway(await open());
          clock.pass(8_000);
          clients[0]!.send("synthesize-chunk", { text: "b" });
          await assertServed(clients[0]!);
          clock.pass(3_000);
          await openMany(1);
          await clients[1]!.rest();
          await assertServed(clients[0]!);
          await until("a log line", () => log().includes("it sent no words while others waited"));
        },
        { flags: { concurrency: `${ALL}` } },
      ));
  }

  it("texts being spoken stay, however long their client pauses", () => {
    const { opened, open: release } = gate();
    return withCrowd(
      (client) => startText(client, `${SENTENCE} And`),
      async ({ clock, open }) => {
        clock.pass(20_000);
        await assertTurnedAway(await open());
        release();
      },
      { tone: { beforeFrame: () => opened } },
    ).finally(release);
  });

  it("a client over its budget makes room, whatever it has open", () =>
    withCrowd(
      (client) => startRecording(client, SOUND),
      async ({ clients, log, openMany }) => {
        const greedy = clients[40]!;
        for (let i = 0; i < 8; i++) greedy.send("ping", { text: "a".repeat(100_000) });
        await until("its being slowed", () => log().includes("wyoming connection slowed"));
        await openMany(1);
        await greedy.rest();
        assert.ok(greedy.events.length < 9);
        assert.doesNotMatch(log(), /aaa/);
      },
    ));
});

/** Two pings at once, and then about one every 50 ms. */
const SCARCE = { perS: 20_000, burst: 3_000 };
/** A budget that is not refilled during a test. */
const FINITE = { perS: 1 / 60, burst: 3_000 };

async function withBridge(
  options: BareBridgeOptions,
  work: (bridge: BareBridge, open: () => Promise<WyomingClient>) => Promise<void>,
): Promise<void> {
  const bridge = await bareBridge(options);
  const clients: WyomingClient[] = [];
  try {
    await work(bridge, async () => {
      const client = await WyomingClient.open(bridge.url);
      clients.push(client);
      return client;
    });
  } finally {
    for (const client of clients) client.close();
    bridge.cut();
    await bridge.finish();
  }
}

describe("a client over its budget", () => {
  it("is answered later, in order, and counted", () =>
    withBridge({ budget: SCARCE }, async (bridge, open) => {
      const client = await open();
      for (let i = 0; i < 8; i++) client.send("ping", { text: `${i}` });
      for (let i = 0; i < 8; i++) assert.equal((await client.next())?.data.text, `${i}`);
      await until("all events to be counted", () => bridge.outcomes.length === 8);
      assert.deepEqual([bridge.outcomes[0], bridge.outcomes.at(-1), bridge.slowed], ["taken", "slowed", 1]);
    }));

  it("is not read, and delays no other client", () =>
    withBridge({ budget: FINITE }, async (bridge, open) => {
      const [greedy, other] = [await open(), await open()];
      const flood = Buffer.from('{"type":"describe"}\n'.repeat(50_000));
      for (let i = 0; i < 64; i++) greedy.socket.write(flood);
      await until("its being slowed", () => bridge.slowed === 1);
      await assertServed(other);
      assert.ok(greedy.events.length <= 2, `${greedy.events.length} answers`);
      assert.ok(greedy.socket.writableLength > 0);
    }));

  it("pays for bytes of unknown events", () =>
    withBridge({ budget: FINITE }, async (bridge, open) => {
      const client = await open();
      client.send("nothing", { text: "a".repeat(4_000) });
      await until("its being slowed", () => bridge.slowed === 1);
      client.send("ping");
      await assertServed(await open());
      assert.equal(client.events.length, 0);
    }));

  it("is closed when the bridge finishes or the client leaves", () =>
    withBridge({ budget: FINITE }, async (bridge, open) => {
      const [one, other] = [await open(), await open()];
      for (const client of [one, other]) for (let i = 0; i < 9; i++) client.send("ping");
      await until("their being slowed", () => bridge.slowed === 2);
      other.close();
      const finished = bridge.finish();
      await one.rest();
      await within("the end of all connections", finished);
    }));
});

it("a refused event is counted, and an internal error is reported with its cause", () => {
  let thrown: Error | null = null;
  const recogniserName = async () => {
    if (thrown !== null) throw thrown;
    return null;
  };
  return withBridge({ budget: SCARCE, recogniserName }, async (bridge, open) => {
    const refused = await open();
    refused.send("ping", { text: 1 });
    const [error] = await refused.rest();
    assert.deepEqual(error?.data, { text: "text must be a string, or be left out", code: "invalid_request" });
    assert.deepEqual([bridge.outcomes, bridge.failures], [["refused"], []]);
    thrown = new Error("scripted");
    const failing = await open();
    failing.send("describe");
    assert.equal((await failing.rest())[0]?.data.code, "internal_error");
    assert.deepEqual(bridge.failures, [thrown]);
  });
});

it("describe changes with the recogniser", () => {
  let name: string | null = null;
  const budget = { perS: 1 / 60, burst: 100_000 };
  return withBridge({ budget, recogniserName: async () => name }, async (_bridge, open) => {
    const client = await open();
    for (const expected of [null, "a.en", "a.en", "b", null]) {
      name = expected;
      client.send("describe");
      const { asr } = (await client.next())!.data;
      assert.equal(asr[0]?.models[0].name ?? null, expected);
    }
  });
});

it("logs and counts each request, without words or keys", () => {
  let isBroken = false;
  const canHear = async () => {
    if (isBroken) throw new TypeError("marmalade\n    at breakfast");
    return true;
  };
  return withWyoming({ recogniser: new ScriptedRecogniser(), canHear }, async ({ server, log, open }) => {
    const client = await open();
    client.send("synthesize", { text: "Marmalade." });
    await client.upTo("audio-stop");
    startText(client, "Marmalade again.");
    client.send("synthesize-stop");
    await client.upTo("synthesize-stopped");
    client.send("audio-chunk", FORMAT, new Uint8Array(16_000));
    client.send("audio-stop");
    await client.upTo("transcript");
    client.send("synthesize", { text: "Marmalade.", voice: { name: "Marmalade" } });
    await client.rest();
    const garbage = await open();
    garbage.socket.write("Marmalade\n");
    await garbage.rest();
    isBroken = true;
    const failing = await open();
    failing.send("describe");
    assert.equal((await failing.rest())[0]?.data.code, "internal_error");
    const failed = 'requests_ended_total{route="wyoming:synthesize",end="failed",type="invalid_request"}';
    assert.equal(await endsOf(server, "synthesize", "finished"), 2);
    assert.equal(await endsOf(server, "transcribe", "finished"), 1);
    assert.equal(await server.metric(failed), 1);
    assert.equal(await server.metric('wyoming_events_total{outcome="taken"}'), 6);
    assert.equal(await server.metric('wyoming_events_total{outcome="refused"}'), 3);
    await server.stop();
    const all = log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const lines = all.filter(({ msg, route }) => msg === "request" && route.startsWith("wyoming:"));
    assert.deepEqual(
      lines.map(({ route, end, error }) => [route, end, error]),
      [
        ["wyoming:synthesize", "finished", undefined],
        ["wyoming:synthesize", "finished", undefined],
        ["wyoming:transcribe", "finished", undefined],
        ["wyoming:synthesize", "failed", "invalid_request"],
      ],
    );
    assert.ok(lines.every((line) => line.key_id === server.keyId));
    const [failure, ...others] = all.filter(({ level }) => level === 50);
    assert.deepEqual([failure.msg, failure.err.type, others], ["wyoming connection failed", "TypeError", []]);
    assert.match(failure.err.stack, /^ {4}at .*canHear /);
    assert.doesNotMatch(log(), /marmalade|one way|ant_/i);
  });
});
