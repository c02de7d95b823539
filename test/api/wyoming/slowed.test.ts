import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until, within } from "../../waiting.ts";
import { type BareBridge, type BareBridgeOptions, bareBridge } from "./bare-bridge.ts";
import { WyomingClient } from "./client.ts";

/** Two pings at once, and then one every 50 ms or so. */
const SCARCE = { perS: 20_000, burst: 3_000 };
/** Once it is used up, nothing comes back within the time of a test. */
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

describe("a client that asks for more than its budget", () => {
  test("is answered later, in the order of asking, and is told of and counted", () =>
    withBridge({ budget: SCARCE }, async (bridge, open) => {
      const client = await open();
      for (let i = 0; i < 8; i++) client.send("ping", { text: `${i}` });
      for (let i = 0; i < 8; i++) assert.equal((await client.next())?.data.text, `${i}`);
      await until("all of them being counted", () => bridge.outcomes.length === 8);
      assert.equal(bridge.outcomes[0], "taken");
      assert.equal(bridge.outcomes.at(-1), "slowed");
      assert.equal(bridge.slowed, 1);
    }));

  test("is not read meanwhile, and nobody else waits for it", () =>
    withBridge({ budget: FINITE }, async (bridge, open) => {
      const [greedy, other] = [await open(), await open()];
      const flood = Buffer.from('{"type":"describe"}\n'.repeat(50_000));
      for (let i = 0; i < 64; i++) greedy.socket.write(flood);
      await until("its being slowed", () => bridge.slowed === 1);
      other.send("ping");
      await other.upTo("pong");
      assert.ok(greedy.events.length <= 2, `${greedy.events.length} answers`);
      assert.ok(greedy.socket.writableLength > 0);
    }));

  test("pays for bytes that are asked of nothing", () =>
    withBridge({ budget: FINITE }, async (bridge, open) => {
      const client = await open();
      client.send("nothing", { text: "a".repeat(4_000) });
      await until("its being slowed", () => bridge.slowed === 1);
      client.send("ping");
      const other = await open();
      other.send("ping");
      await other.upTo("pong");
      assert.equal(client.events.length, 0);
    }));

  test("is let go when the bridge finishes, and when it closes the connection itself", () =>
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

test("an event that is refused is counted so, and one that is no refusal is told of with what was thrown", () => {
  let thrown: Error | null = null;
  const recogniserName = () => {
    if (thrown !== null) throw thrown;
    return null;
  };
  return withBridge({ budget: SCARCE, recogniserName }, async (bridge, open) => {
    const refused = await open();
    refused.send("ping", { text: 1 });
    const [error] = await refused.rest();
    assert.deepEqual(error?.data, { text: "text must be a string, or be left out", code: "invalid_request" });
    assert.deepEqual([bridge.outcomes, bridge.failures], [["refused"], []]);
    thrown = new Error("nobody knows");
    const failing = await open();
    failing.send("describe");
    assert.equal((await failing.rest())[0]?.data.code, "internal_error");
    assert.deepEqual(bridge.failures, [thrown]);
  });
});

test("describe is answered anew when who hears has changed", () => {
  let name: string | null = null;
  return withBridge(
    { budget: { perS: 1 / 60, burst: 100_000 }, recogniserName: () => name },
    async (_bridge, open) => {
      const client = await open();
      for (const expected of [null, "a.en", "a.en", "b", null]) {
        name = expected;
        client.send("describe");
        const { asr } = (await client.next())!.data;
        assert.equal(asr[0]?.models[0].name ?? null, expected);
      }
    },
  );
});
