import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { encodeWav } from "../../src/client/samples.ts";
import type { Script } from "../../src/core/script.ts";
import { PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { openNeuralDetector } from "../../src/recognition/turn-detection/neural-detector.ts";
import { addVoice } from "../api/http/forms.ts";
import { recordingTones, startTestServer, type TestServer } from "../api/http/start.ts";
import { fakeMicrophone, NEEDS_CHROMIUM } from "../client/browser.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import { ScriptedRecogniser, segmentOf } from "../recognition/scripted-recogniser.ts";
import { line } from "../recognition/turn-detection/line.ts";
import { until } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";
import { connect, inPlayground, type Playground } from "./playground.ts";

const SAID = "Is the kettle on?";
/** About 20 s of the test engine. */
const REPLY = `${"The kettle has been on the fire for a while. ".repeat(8)}`.trim();
/** The pause between repetitions of the microphone's line. */
const PAUSE_SECONDS = 6;

let server: TestServer;
let microphone: readonly string[];
const scripts: Script[] = [];
before(async () => {
  const samples = await line();
  const file = join(temporaryFolder(), "line.wav");
  const said = Int16Array.from(samples, (x) => 32_767 * x);
  writeFileSync(file, encodeWav([said, new Int16Array(PAUSE_SECONDS * 16_000)], 16_000));
  microphone = fakeMicrophone(file);
  server = await startTestServer({
    checkpoints: [recordingTones(scripts)],
    writer: new ScriptedWriter([REPLY]),
    recogniser: new ScriptedRecogniser([segmentOf(SAID, 0)]),
    detector: openNeuralDetector(),
  });
});
after(() => server.stop());

const link = async () => `#secret=${await server.clientSecret(server.key, 600)}`;
const first = (role: string) => `.said.${role}:nth-child(1 of .${role})`;

const inTalk = (fragment: string, use: (page: Playground) => Promise<void>, flags: readonly string[] = []) =>
  inPlayground(server, fragment, use, { isTalk: true, flags });

async function write(page: Playground, text: string): Promise<void> {
  await page.write("#typed", text);
  await page.evaluate(`document.querySelector("#type-form").requestSubmit()`);
}

const it = (
  title: string,
  use: (page: Playground) => Promise<void>,
  flags: () => readonly string[] = () => [],
) => test(title, NEEDS_CHROMIUM, async () => inTalk(await link(), use, flags()));

it(
  "opens connected by a link, answers speech aloud and is interrupted by voice",
  async (page) => {
    await page.says("#key-state", /^Connected by a talk link/);
    const address = `${await page.evaluate("location.href")}`;
    assert.doesNotMatch(address, /ek_/, "the secret is not left in the address");
    assert.equal(await page.evaluate("document.body.dataset.view"), "talk");
    assert.match(await page.text("#intro"), /Press Talk/);
    await page.click("#talk");
    await page.says("#talk-label", /^End$/);
    await page.is(`document.querySelector("${first("user")} .words")?.textContent === "${SAID}"`);
    // On a busy machine the line may interrupt its own answer before anything is heard of it; what comes with the microphone muted is heard.
    await page.click("#mute");
    const heardNow = `document.querySelector(".said.assistant:has(.lit) .heard")`;
    await page.is(`${heardNow}?.textContent.length > 0`);
    const reply = `[data-id="${await page.evaluate(`${heardNow}.closest(".said").dataset.id`)}"]`;
    await page.click("#mute");
    await page.is(`document.querySelector('${reply}').dataset.state === "interrupted"`);
    await page.click("#talk");
    await page.says("#talk-label", /^Talk$/);
    const heard = await page.text(`${reply} .heard`);
    assert.ok(heard !== "" && REPLY.startsWith(heard) && heard !== REPLY, heard);
    assert.match(await page.text(`${reply} .foot`), /^answered in \d+\.\d\d sinterruptedPlay again/);
    assert.equal(await page.get("#error", "hidden"), true);
  },
  () => microphone,
);

it("gets no error from the server while it opens", async (page) => {
  await page.says("#key-state", /^Connected by a talk link/);
  const failed = `performance.getEntriesByType("resource")
    .filter(({ responseStatus }) => responseStatus >= 400).map(({ name }) => name)`;
  assert.deepEqual(await page.evaluate(failed), []);
  assert.equal(await page.get("#menu", "open"), false, "the key field is in the menu");
});

it("answers typed text aloud without a microphone", async (page) => {
  await page.says("#key-state", /^Connected by a talk link/);
  await page.evaluate(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotFoundError"))`,
  );
  await page.click("#talk");
  await page.says("#talk-note", /^No microphone was found\. Plug one in.*You can also type/);
  await write(page, "Is it?");
  await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
  await page.says("#talk-state", /^Antiphon is speaking$/);
  await page.click("#quiet");
  await page.is(`document.querySelector("${first("assistant")}").dataset.state === "interrupted"`);
  await page.says("#talk-state", /^Type something$/);
  await page.click("#compose");
  const turns = `[...document.querySelectorAll(".turn textarea")].map(({ value }) => value)`;
  const given = (await page.evaluate(turns)) as string[];
  assert.ok(given.includes("Is it?") && given.includes(REPLY), given.join("|"));
});

/** Replaces the microphone by a silent one that the test grants. */
const SILENT_MICROPHONE = `
  window.lent = [];
  window.lend = [];
  navigator.mediaDevices.getUserMedia = () => new Promise((resolve) => lend.push(() => {
    const { stream } = new AudioContext().createMediaStreamDestination();
    lent.push(stream.getTracks()[0]);
    resolve(stream);
  }));`;
const sessionsAre = (count: number) =>
  until(`${count} open sessions`, async () => (await server.metric("realtime_sessions")) === count);

it("ends the session and the microphone prompt at a second press of Talk", async (page) => {
  await page.evaluate(SILENT_MICROPHONE);
  await page.click("#talk");
  await page.says("#talk-state", /^Waiting for the microphone/);
  await sessionsAre(1);
  await page.click("#talk");
  await sessionsAre(0);
  await page.click("#talk");
  await sessionsAre(1);
  await page.evaluate("for (const give of lend) give()");
  await page.is(`lent[0].readyState === "ended"`);
  await page.says("#talk-state", /^Listening$/);
  assert.equal(await page.evaluate("lent[1].readyState"), "live");
  await page.click("#talk");
  await page.is(`lent[1].readyState === "ended"`);
  await sessionsAre(0);
});

it("keeps one session and the microphone through quick changes of the voice", async (page) => {
  await page.evaluate(SILENT_MICROPHONE);
  await page.click("#talk");
  await page.evaluate("lend[0]()");
  await page.says("#talk-state", /^Listening$/);
  await page.evaluate(`for (const voice of ["1", "0", "1"]) {
        document.querySelector('#talk-people .person[value="' + voice + '"]').click();
      }`);
  await page.is(`document.querySelector("#talk-view").dataset.state !== "connecting"`);
  await sessionsAre(1);
  assert.equal(await page.text("#talk-state"), "Listening");
  assert.equal(await page.evaluate("lent[0].readyState"), "live");
  await write(page, "Is it?");
  await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
  assert.equal(scripts.at(-1)?.speaker, "1");
});

it("selects the voice with a link alone", async (page) => {
  const person = (id: string) => `#talk-people .person[value="${id}"]`;
  await page.is(`document.querySelector('${person("0")}')?.ariaPressed === "true"`);
  const before = scripts.length;
  await page.click(person("1"));
  await page.is(`document.querySelector('${person("1")}').ariaPressed === "true"`);
  await until("the sample of a chosen voice", () => scripts.length === before + 1);
  assert.equal(scripts.at(-1)?.speaker, "1");
  await page.click(`${person("0")} + .play`);
  await until("the sample of another voice", () => scripts.length === before + 2);
  assert.equal(scripts.at(-1)?.speaker, "0");
  assert.equal(await page.get(person("1"), "ariaPressed"), "true", "playing chooses no voice");
  assert.equal(
    await page.get("#talk-people .mix", "hidden"),
    true,
    "of a model that mixes nobody no mix is offered",
  );
  await write(page, "Is it?");
  await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
  assert.ok(scripts.length > before);
  assert.equal(scripts.at(-1)?.speaker, "1");
});

it("changes the model in the middle of a talk", async (page) => {
  await page.is(`document.querySelectorAll("#talk-model option").length === ${PUBLIC_MODELS.length}`);
  await write(page, "Is it?");
  await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
  const [usual, another] = PUBLIC_MODELS;
  assert.deepEqual(scripts.at(-1)?.preset, usual!.preset);
  await page.write("#talk-model", another!.card.id);
  await page.is(`document.querySelector("#talk-view").dataset.state === "listening"`);
  await sessionsAre(1);
  const before = scripts.length;
  await write(page, "And now?");
  await page.is(`document.querySelectorAll(".said.assistant")[1]?.querySelector(".lit") != null`);
  assert.ok(scripts.length > before);
  assert.deepEqual(scripts.at(-1)?.preset, another!.preset);
});

it("shares the selected model between both views", async (page) => {
  const [usual, another] = PUBLIC_MODELS;
  await connect(page, server);
  const address = await page.evaluate("location.href");
  await page.write("#talk-model", another!.card.id);
  await page.is(`document.querySelector("#model").value === "${another!.card.id}"`);
  await page.write("#model", usual!.card.id);
  await page.is(`document.querySelector("#talk-model").value === "${usual!.card.id}"`);
  await page.write("#model", another!.card.id);
  await write(page, "Is it?");
  await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
  assert.deepEqual(scripts.at(-1)?.preset, another!.preset);
  assert.equal(await page.evaluate("location.href"), address);
  await page.click("#view-compose");
  await page.is(`location.hash.endsWith("model=${another!.card.id}")`);
});

test("opens a talk by a link if voices are listed only with a key", NEEDS_CHROMIUM, async () => {
  const own = await startTestServer({
    flags: { keylessLists: "none" },
    writer: new ScriptedWriter([REPLY]),
  });
  try {
    const { id } = await (await addVoice(own)).json();
    const fragment = `#secret=${await own.clientSecret(own.key, 600)}`;
    const use = async (page: Playground) => {
      await page.says("#talk-people .people", /^Connect an API key to see the voices\.$/);
      await write(page, "Is it?");
      await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
      await connect(page, own);
      await page.is(`document.querySelector('#talk-people .person[value="${id}"]') !== null`);
      await page.evaluate(`document.querySelector('#talk-people .person[value="1"]').focus()`);
      await page.press("End");
      assert.equal(
        await page.evaluate("document.activeElement.value"),
        id,
        "nobody is deleted while one talks",
      );
      await page.click('#talk-people .person[value="1"]');
      await page.click("#compose");
      const speakers = `[...document.querySelectorAll(".turn .head select")].map(({ value }) => value)`;
      assert.deepEqual(((await page.evaluate(speakers)) as string[]).slice(0, 2), ["0", "1"]);
    };
    await inPlayground(own, fragment, use, { isTalk: true });
  } finally {
    await own.stop();
  }
});

test(
  "sends text typed before it is connected in order, and restores refused text",
  NEEDS_CHROMIUM,
  async () => {
    await inTalk(await link(), async (page) => {
      const said = `[...document.querySelectorAll(".said.user .words")].map(({ textContent }) => textContent).join("|")`;
      await page.evaluate(`{
        const form = document.querySelector("#type-form");
        for (const text of ["Is it?", "Or not?"]) {
          document.querySelector("#typed").value = text;
          form.requestSubmit();
        }
      }`);
      await page.is(`${said} === "Is it?|Or not?"`);
      await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
      await sessionsAre(1);
    });
    await inTalk("#secret=ek_0123456789", async (page) => {
      await write(page, "Is it?");
      await page.says("#error", /^This link has expired\./);
      await page.is(`document.querySelector("#typed").value === "Is it?"`);
    });
  },
);

test("says why there is no microphone over plain http", NEEDS_CHROMIUM, async () => {
  const elsewhere = { ...server, url: server.url.replace("127.0.0.1", "elsewhere.test") };
  const port = new URL(server.url).port;
  const flags = ["--host-resolver-rules=MAP elsewhere.test 127.0.0.1"];
  const use = async (page: Playground) => {
    await page.says("#talk-note", new RegExp(`plain http\\. .*over https, or as http://localhost:${port} `));
    await page.click("#talk");
    await page.says("#talk-state", /^Type something$/);
    await write(page, "Is it?");
    await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
  };
  await inPlayground(elsewhere, await link(), use, { isTalk: true, flags });
});

test("reports an expired link, and asks for a key without one", NEEDS_CHROMIUM, async () => {
  await inTalk("#secret=ek_0123456789", async (page) => {
    await page.says(
      "#key-state",
      /^This link has expired\. Paste an API key, or restart the server with ANTIPHON_KEY set/,
    );
    await page.click("#talk");
    await page.says("#error", /^This link has expired\./);
  });
  await inTalk("", async (page) => {
    await page.click("#talk");
    await page.says("#error", /^Paste an API key first/);
  });
});
