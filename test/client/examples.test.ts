import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { launch } from "../children.ts";
import { TOP, temporaryFolder } from "../e2e/folders.ts";
import { finished, newcomersEnvironment } from "../e2e/program.ts";
import { until, within } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";
import { inChromium, NEEDS_CHROMIUM } from "./browser.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ writer: new ScriptedWriter(["It was wonderful."]) });
});
after(() => server.stop());

/** Starts an example against the test's server. */
function start(name: string, args: readonly string[], cwd = temporaryFolder()) {
  const env = { ...newcomersEnvironment(), BASE_URL: server.url, ANTIPHON_KEY: server.key };
  return launch(process.execPath, [join(TOP, "examples", name), ...args], { cwd, env });
}

test("save-wav.js saves a WAV file", async () => {
  const folder = temporaryFolder();
  const { code, stdout, stderr } = await within(
    "the example",
    finished(start("save-wav.js", ["The kettle is on.", "kettle.wav"], folder)),
  );
  assert.equal(code, 0, stderr);
  const seconds = wavSeconds(join(folder, "kettle.wav"));
  assert.equal(stdout, `${seconds.toFixed(2)} s in kettle.wav\n`);
});

test("talk.js answers line by line", async () => {
  const folder = temporaryFolder();
  const child = start("talk.js", [folder]);
  const over = finished(child);
  child.stdin!.end("I went to the sea.\n\nAnd you?\n");
  const { code, stdout, stderr } = await within("the example", over);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  const lines = stdout.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split("  [")[0]),
    Array(2).fill("It was wonderful."),
  );
  for (const reply of [1, 2]) assert.ok(wavSeconds(join(folder, `reply-${reply}.wav`)) > 0.5);
});

test("the browser example speaks through its server, which keeps the key", NEEDS_CHROMIUM, async () => {
  const child = start("browser/server.js", ["0"]);
  const [line] = await within("its address", once(child.stdout!, "data"));
  const url = `${line}`.trim();
  const page = await (await fetch(url)).text();
  assert.equal(page, readFileSync(join(TOP, "examples/browser/index.html"), "utf8"));
  assert.ok(!page.includes(server.key));
  const state = await inChromium(`${url}/`, async ({ evaluate }) => {
    await evaluate(`document.querySelector("form button").click()`);
    const state = () => evaluate(`document.getElementById("state").value`);
    await until("the reply to be heard", async () => (await state()) !== "speaking");
    return [await state(), await evaluate(`document.getElementById("heard").value`)];
  });
  assert.equal(state[0], "done");
  assert.match(`${state[1]}`, /^[1-9]\.\d s$/);
  child.kill();
  await within("its end", once(child, "exit"));
});

function wavSeconds(file: string): number {
  const { samples, sampleRateHz } = decodeWav(readFileSync(file));
  return samples.length / sampleRateHz;
}
