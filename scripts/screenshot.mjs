// Makes the picture of the playground that README.md shows, in a Chromium:
//
//   npm run build && node scripts/screenshot.mjs
//
// The page, the server, the recogniser and the writer are those of a newcomer, and the replies are what the writer answered. The
// microphone is a recording of our own voice 1.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Antiphon, bytesOf, encodeWav } from "../dist/src/client/antiphon.js";
import { fakeMicrophone, inChromium } from "../dist/test/client/browser.js";
import { until } from "../dist/test/waiting.js";
import { startSampleServer } from "./sample-server.mjs";

const SIZE = { width: 1200, height: 790, deviceScaleFactor: 1.4, mobile: false };
const SPOKEN = "I just passed my driving test!";
const TYPED = "I was so nervous this morning.";
/** Characters of the second reply that are heard in the picture. */
const HEARD = 8;
const SILENCE_S = 60;

const server = await startSampleServer();
const folder = mkdtempSync(join(tmpdir(), "antiphon-screenshot-"));
try {
  const antiphon = new Antiphon({ baseUrl: server.baseUrl, apiKey: server.apiKey, maxRetries: 100 });
  const { audio } = await antiphon.tts({ text: SPOKEN, voice: "theo", params: { temperature: 0 } });
  const samples = new Int16Array(bytesOf(audio.data_b64).buffer.slice(44));
  const microphone = join(folder, "microphone.wav");
  writeFileSync(microphone, encodeWav([samples, new Int16Array(SILENCE_S * 24_000)]));
  const use = async ({ evaluate, send }) => {
    await send("Emulation.setDeviceMetricsOverride", SIZE);
    await send("Emulation.setScrollbarsHidden", { hidden: true });
    await send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: "light" }],
    });
    const is = (expression) =>
      until(expression, async () => (await evaluate(expression)) === true, { deadlineMs: 60_000 });
    await is(`document.getElementById("talk")?.disabled === false`);
    await evaluate(`document.getElementById("talk").click()`);
    await is(`document.querySelector(".assistant")?.dataset.state === "done"`);
    await evaluate(`{
      document.getElementById("typed").value = ${JSON.stringify(TYPED)};
      document.getElementById("type-form").requestSubmit();
      document.activeElement.blur();
    }`);
    await is(`[...document.querySelectorAll(".assistant .heard")].at(1)?.textContent.length >= ${HEARD}`);
    const { data: png } = await send("Page.captureScreenshot", { format: "png" });
    const file = fileURLToPath(new URL("../docs/playground.png", import.meta.url));
    writeFileSync(file, Buffer.from(png, "base64"));
    console.log(`${file}: ${Math.round((png.length * 3) / 4 / 1_024)} KiB`);
  };
  await inChromium(server.talkLink, use, fakeMicrophone(microphone));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
}
