import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { encodeWav } from "../../src/client/samples.ts";
import { openNeuralDetector } from "../../src/turn-detection/neural-detector.ts";
import { fakeMicrophone, NEEDS_CHROMIUM } from "../client/browser.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { ScriptedRecogniser, segmentOf } from "../recognisers/scripted-recogniser.ts";
import { line } from "../turn-detection/line.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";
import { inPlayground, type Playground } from "./playground.ts";

const SAID = "Is the kettle on?";
/** Some 20 s at the 60 ms a character of the test's engine. */
const REPLY = `${"The kettle has been on the fire for a while. ".repeat(8)}`.trim();
/** The microphone hears its line again and again, with so long a pause between. */
const PAUSE_SECONDS = 6;

let server: TestServer;
let microphone: readonly string[];
before(async () => {
  const samples = await line();
  const file = join(temporaryFolder(), "line.wav");
  const said = Int16Array.from(samples, (x) => 32_767 * x);
  writeFileSync(file, encodeWav([said, new Int16Array(PAUSE_SECONDS * 16_000)], 16_000));
  microphone = fakeMicrophone(file);
  server = await startTestServer({
    writer: new ScriptedWriter([REPLY]),
    recogniser: new ScriptedRecogniser([segmentOf(SAID, 0)]),
    detector: openNeuralDetector(),
  });
});
after(() => server.stop());

const link = async () => `#secret=${await server.clientSecret(server.key, 600)}`;
const first = (role: string) => `.said.${role}:nth-child(1 of .${role})`;

/** Opens the page as it is, on a machine with a microphone where flags give it one. */
const inTalk = (fragment: string, use: (page: Playground) => Promise<void>, flags: readonly string[] = []) =>
  inPlayground(server, fragment, use, { isTalk: true, flags });

/** Says something in writing. */
async function write(page: Playground, text: string): Promise<void> {
  await page.write("#typed", text);
  await page.evaluate(`document.querySelector("#type-form").requestSubmit()`);
}

test(
  "in a browser, a link opens the page connected; what is said is understood, answered aloud, and interrupted by voice",
  NEEDS_CHROMIUM,
  async () => {
    await inTalk(
      await link(),
      async (page) => {
        await page.says("#key-state", /^Connected by the link/);
        assert.equal(await page.evaluate("location.hash"), "", "the secret is not left in the address");
        assert.equal(await page.evaluate("document.body.dataset.view"), "talk");
        assert.match(await page.text("#intro"), /press Talk/);
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
        assert.match(await page.text(`${reply} .foot`), /^after \d+\.\d\d sinterruptedHear it again/);
        assert.equal(await page.evaluate(`document.querySelector("#error").hidden`), true);
      },
      microphone,
    );
  },
);

test(
  "in a browser, without a microphone the page says what to do, and answers aloud what is typed",
  NEEDS_CHROMIUM,
  async () => {
    await inTalk(await link(), async (page) => {
      await page.says("#key-state", /^Connected by the link/);
      await page.evaluate(
        `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotFoundError"))`,
      );
      await page.click("#talk");
      await page.says("#talk-note", /^No microphone was found\. Plug one in.*You can type meanwhile/);
      await write(page, "Is it?");
      await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
      await page.says("#talk-state", /^Antiphon is speaking$/);
      await page.click("#quiet");
      await page.is(`document.querySelector("${first("assistant")}").dataset.state === "interrupted"`);
      await page.says("#talk-state", /^Type something$/);
      await page.click("#compose");
      const turns = `[...document.querySelectorAll("textarea")].map(({ value }) => value)`;
      const given = (await page.evaluate(turns)) as string[];
      assert.ok(given.includes("Is it?") && given.includes(REPLY), given.join("|"));
    });
  },
);

test(
  "in a browser, a page that came over plain http from elsewhere says where a microphone can be had",
  NEEDS_CHROMIUM,
  async () => {
    const elsewhere = { ...server, url: server.url.replace("127.0.0.1", "elsewhere.test") };
    const port = new URL(server.url).port;
    const flags = ["--host-resolver-rules=MAP elsewhere.test 127.0.0.1"];
    const use = async (page: Playground) => {
      await page.says("#talk-note", new RegExp(`plain http.*over https, or as http://localhost:${port} `));
      await page.click("#talk");
      await page.says("#talk-state", /^Type something$/);
      await write(page, "Is it?");
      await page.is(`document.querySelector("${first("assistant")} .lit")?.textContent.length > 0`);
    };
    await inPlayground(elsewhere, await link(), use, { isTalk: true, flags });
  },
);

test(
  "in a browser, a link that is good no longer says so, and a page without any asks for a key",
  NEEDS_CHROMIUM,
  async () => {
    await inTalk("#secret=ek_0123456789", async (page) => {
      await page.says("#key-state", /^This link is good no longer/);
      await page.click("#talk");
      await page.says("#error", /^The key was not accepted\./);
    });
    await inTalk("", async (page) => {
      await page.click("#talk");
      await page.says("#error", /^Paste an API key first/);
    });
  },
);
