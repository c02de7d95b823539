import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inChromium, NEEDS_CHROMIUM } from "../client/browser.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { until } from "../waiting.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const text = (id: string) => `document.getElementById("${id}").textContent`;
const press = (id: string) => `document.getElementById("${id}").click()`;
const isEnabled = (id: string) => `!document.getElementById("${id}").disabled`;

test(
  "in a browser, the page connects, speaks to the end, plays it again, and stops",
  NEEDS_CHROMIUM,
  async () => {
    await inChromium(`${server.url}/`, async ({ evaluate }) => {
      const says = (id: string, what: RegExp) =>
        until(`${id} to say ${what}`, async () => what.test(`${await evaluate(text(id))}`));
      await evaluate(press("speak"));
      await says("error", /Paste an API key first/);
      await evaluate(`document.getElementById("key").value = "ant_nobody"`);
      await evaluate(`document.getElementById("key-form").requestSubmit()`);
      await says("error", /The key was not accepted\..*Request id: req_/);
      await evaluate(`document.getElementById("key").value = "${server.key}"`);
      await evaluate(`document.getElementById("key-form").requestSubmit()`);
      await says("key-state", /^Connected/);
      await evaluate(press("speak"));
      await says("state", /^Speaker 1: “Like a log, thank you\. And you\?”$/);
      await until("its end", async () => (await evaluate(isEnabled("replay"))) === true);
      assert.match(`${await evaluate(text("figures"))}`, /First audio\d+ ms.*Underruns0/);
      assert.equal(await evaluate(isEnabled("download")), true);
      await evaluate(press("replay"));
      assert.equal(await evaluate(isEnabled("stop")), true);
      await evaluate(press("stop"));
      assert.equal(await evaluate(isEnabled("replay")), true);
    });
  },
);

test(
  "in a browser, a reply that is stopped is generated no further, and the page says so",
  NEEDS_CHROMIUM,
  async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const own = await startTestServer({ tone: { beforeFrame: (index) => (index < 5 ? undefined : held) } });
    try {
      await inChromium(`${own.url}/`, async ({ evaluate }) => {
        await evaluate(`document.getElementById("key").value = "${own.key}"`);
        await evaluate(`document.getElementById("key-form").requestSubmit()`);
        await until("the key", async () => /^Connected/.test(`${await evaluate(text("key-state"))}`));
        await evaluate(press("speak"));
        await until("sound", async () => (await evaluate(text("state"))) === "Speaking…");
        await evaluate(press("stop"));
        await until("the stop", async () => (await evaluate(text("state"))) === "Stopped.");
        assert.equal(await evaluate(`document.getElementById("error").hidden`), true);
        await until("the generation's end", async () => (await own.metric("active_streams")) === 0);
      });
    } finally {
      goOn();
      await own.stop();
    }
  },
);
