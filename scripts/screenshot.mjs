// Makes the picture of the playground that README.md shows, of the built program in a Chromium:
//
//   node scripts/screenshot.mjs
//
// The voice speaks alike each time at temperature 0; how fast it did so is this machine's, and is in the picture.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inChromium } from "../dist/test/client/browser.js";
import { until } from "../dist/test/waiting.js";

const SIZE = { width: 1200, height: 740, deviceScaleFactor: 1.4, mobile: false };
const CONVERSATION = [
  ["0", "Did you sleep well?"],
  ["1", "Like a log, thank you. And you?"],
  ["0", "I read until four, because the wind would not let me sleep."],
  ["temperature", "0"],
];
/** Where the reply stands in the picture. */
const AT_S = 2;

const top = fileURLToPath(new URL("..", import.meta.url));
const antiphon = join(top, "dist/src/cli/main.js");
const data = mkdtempSync(join(tmpdir(), "antiphon-screenshot-"));
const keys = ["keys", "create", "--label", "screenshot", "--json", "--data-dir", data];
const { key } = JSON.parse(execFileSync(process.execPath, [antiphon, ...keys], { encoding: "utf8" }));
const server = spawn(process.execPath, [antiphon, "serve", "--port", "0", "--no-pull", "--data-dir", data], {
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  let url = "";
  for await (const line of createInterface({ input: server.stdout })) {
    url = /^Antiphon is listening on (\S+)$/.exec(line)?.[1] ?? "";
    if (url !== "") break;
  }
  if (url === "") throw new Error("The server does not start: is it built?");
  await inChromium(`${url}/#${new URLSearchParams(CONVERSATION)}`, async ({ evaluate, send }) => {
    await send("Emulation.setDeviceMetricsOverride", SIZE);
    await send("Emulation.setScrollbarsHidden", { hidden: true });
    await send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: "light" }],
    });
    const is = (expression) => until(expression, async () => (await evaluate(expression)) === true);
    const says = (id, start) => is(`document.getElementById("${id}").textContent.startsWith("${start}")`);
    const click = (id) => evaluate(`document.getElementById("${id}").click()`);
    await evaluate(`document.getElementById("key").value = "${key}"`);
    await evaluate(`document.getElementById("key-form").requestSubmit()`);
    await says("key-state", "Connected");
    // Once to wake the voice, once to be seen.
    for (let time = 0; time < 2; time++) {
      await click("speak");
      await says("state", "Speaker");
    }
    await click("stop");
    await click("phonemes");
    await evaluate(`{
      const place = document.getElementById("place");
      place.value = ${AT_S};
      place.dispatchEvent(new Event("input"));
      document.activeElement.blur();
      for (const each of document.getAnimations()) each.cancel();
    }`);
    const { data: png } = await send("Page.captureScreenshot", { format: "png" });
    const file = join(top, "docs/playground.png");
    writeFileSync(file, Buffer.from(png, "base64"));
    console.log(`${file}: ${Math.round((png.length * 3) / 4 / 1_024)} KiB`);
  });
} finally {
  server.kill();
  await once(server, "exit");
  rmSync(data, { recursive: true, force: true, maxRetries: 9 });
}
