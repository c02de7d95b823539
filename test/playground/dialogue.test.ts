import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Script } from "../../src/core/script.ts";
import { recordingTones, startTestServer, type TestServer } from "../api/http/start.ts";
import { NEEDS_CHROMIUM } from "../client/browser.ts";
import { until } from "../waiting.ts";
import { castOfThree } from "./cast-of-three.ts";
import { connect, inPlayground, type Playground } from "./playground.ts";

const SCRIPT = "# A scene\nAnna: Is it late?\nBen (whispering): It is.\nDora: <b>Good night!</b>";

const scripts: Script[] = [];
const spokenBy = () =>
  scripts.map(({ speaker, voice: [part] = [] }) => (part !== undefined && "id" in part ? part.id : speaker));
let server: TestServer;
before(async () => {
  server = await startTestServer({
    models: castOfThree({ mixes: false }),
    checkpoints: [recordingTones(scripts)],
  });
});
after(() => server.stop());
beforeEach(() => void scripts.splice(0));

async function inDialogue(script: string, use: (page: Playground) => Promise<void>): Promise<void> {
  await inPlayground(
    server,
    "",
    async (page) => {
      await page.click("#view-dialogue");
      await connect(page, server);
      await page.says("#script-note", /^6 turns/);
      await page.write("#script", script);
      await use(page);
    },
    { isTalk: true },
  );
}

const it = (title: string, use: (page: Playground) => Promise<void>, script = SCRIPT) =>
  test(title, NEEDS_CHROMIUM, () => inDialogue(script, use));

/** Returns the texts of each line: the speaker, its voice and instructions, and the words. */
const lines = ({ evaluate }: Playground) =>
  evaluate(`[...document.querySelectorAll("#lines .line")].map((line) =>
    [".who", ".hint", ".words"].map((part) => line.querySelector(part).textContent).join("|"))`);

/** Keeps the files that the page saves. */
const KEEP_FILES = `{
  window.saved = [];
  const create = URL.createObjectURL;
  URL.createObjectURL = (file) => { saved.push(file); return create(file); };
}`;

it("shows a script as turns, each with a voice, and markup as text", async (page) => {
  assert.deepEqual(await lines(page), [
    "Anna|Speaker 0|Is it late?",
    "Ben|Speaker 1 · whispering|It is.",
    "Dora||<b>Good night!</b>",
  ]);
  assert.equal(await page.text("#lines .scene"), "A scene");
  assert.equal(await page.text("#script-note"), "3 turns, 3 speakers.");
  assert.equal(await page.count("#lines .portrait .face"), 3);
});

it("plays a script, lights its words in order, and saves it with its speakers", async (page) => {
  await page.evaluate(`${KEEP_FILES} window.lit = [];
    new MutationObserver(() => {
      const word = document.querySelector("#lines .lit")?.textContent;
      if (word && word !== lit.at(-1)) lit.push(word);
    }).observe(document.querySelector("#lines"), { subtree: true, childList: true });`);
  await page.write("#script", SCRIPT.replaceAll(/<.*?>/g, ""));
  await page.click("#dialogue-play");
  await page.is(`!document.querySelector("#dialogue-vtt").disabled`);
  await page.says("#dialogue-play", /^Play$/);
  const words = ["Is", "it", "late", "It", "is", "Good", "night"];
  const seen = (await page.evaluate("lit")) as string[];
  assert.ok(seen.length > 2, seen.join());
  assert.deepEqual(
    seen,
    words.filter((word) => seen.includes(word)),
  );
  for (const kind of ["vtt", "mp3"]) await page.click(`#dialogue-${kind}`);
  await page.is("saved.length === 2");
  const text = `${await page.evaluate(`saved.find(({ type }) => type === "text/vtt").text()`)}`;
  assert.match(text, /^WEBVTT\n\n.*<v Anna>Is it late\?\n.*<v Ben>It is\.\n.*<v Dora>/s);
  assert.ok(Number(await page.evaluate(`saved.find(({ type }) => type === "audio/mpeg").size`)) > 1_000);
  assert.deepEqual(spokenBy(), ["0", "1", "dora"]);
  await page.evaluate(`document.querySelectorAll("#lines .words")[1].click()`);
  await page.says("#dialogue-play", /^Pause$/);
  assert.equal(scripts.length, 3, "a line plays again without a request");
});

it("changes the voice of a speaker by its portrait", async (page) => {
  await page.click("#lines .line:nth-of-type(3) .portrait");
  await page.says("dialog h2", /^Voice of Ben$/);
  await page.click(`dialog .person[value="0"] + .play`);
  await until("a sample", () => scripts.length === 1);
  await page.click(`dialog .person[value="dora"]`);
  await page.is(`document.querySelector("dialog") === null`);
  assert.match(`${((await lines(page)) as string[])[1]}`, /^Ben\|Dora/);
  scripts.splice(0);
  await page.click("#dialogue-play");
  await page.is(`!document.querySelector("#dialogue-vtt").disabled`);
  assert.deepEqual(spokenBy(), ["0", "dora", "dora"]);
  await page.press("Escape");
  await page.says("#dialogue-clock", /^$/);
});

it(
  "reports the line of an error, and asks whether a name is a speaker",
  async (page) => {
    await page.says("#script-note", /^Line 5: "Note" may be a speaker/);
    await page.click("#script-note button");
    await page.says("#script-note", /^3 turns, 3 speakers\.$/);
    await page.write("#script", "Once upon a time.");
    await page.says("#script-note", /^Line 1: /);
  },
  "Anna: Is it late?\n\nBen: It is.\nso it is.\nNote: It is not.",
);

test("shows the server's refusal and asks for a missing key", NEEDS_CHROMIUM, async () => {
  await inPlayground(
    server,
    "",
    async (page) => {
      await page.click("#view-dialogue");
      await page.says("#script-note", /^6 turns, 3 speakers\.$/);
      await page.click("#dialogue-play");
      await page.says("#error", /^Paste an API key first/);
      assert.equal(await page.evaluate("document.activeElement.id"), "key");
      await connect(page, server);
      await page.write("#script", `Anna: ${"word ".repeat(2_000)}`);
      await page.click("#dialogue-play");
      await page.says("#error", /^The request is not valid\.Script line 1 must have at most 4096 characters/);
      assert.equal(await page.text("#dialogue-play"), "Play");
    },
    { isTalk: true },
  );
});
