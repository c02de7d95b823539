// Makes the picture of the playground that README.md shows, of the built program in a Chromium:
//
//   node scripts/screenshot.mjs
//
// The voice, the microphone and what listens to it are real; what is said was written beforehand.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bytesOf, encodeWav } from "../dist/src/client/antiphon.js";
import { createParametricModel } from "../dist/src/engines/embedded/model.js";
import { startTestServer } from "../dist/test/api/http/start.js";
import { fakeMicrophone, inChromium } from "../dist/test/client/browser.js";
import { tables, VOICE_DIR } from "../dist/test/engines/embedded/voice.js";
import { ScriptedRecogniser, segmentOf } from "../dist/test/recognition/scripted-recogniser.js";
import { until } from "../dist/test/waiting.js";
import { ScriptedWriter } from "../dist/test/writers/scripted-writer.js";

const SIZE = { width: 1200, height: 790, deviceScaleFactor: 1.4, mobile: false };
const SPOKEN = "Good morning, did you sleep well?";
const TYPED = "I read until four, because the wind would not let me sleep.";
const REPLIES = [
  "Like a log, thank you. And you?",
  "Then let us have coffee first, and you tell me how the book ends.",
];
/** The word that is heard in the picture. */
const WORD = "coffee";
const SILENCE_S = 60;

const voiceTables = await tables();
const server = await startTestServer({
  checkpoints: [
    {
      name: "heart",
      memoryBytes: 1,
      load: () => createParametricModel({ voiceDir: VOICE_DIR, tables: voiceTables }),
    },
  ],
  writer: new ScriptedWriter(({ history }) => [REPLIES[history.at(-1).text === TYPED ? 1 : 0]]),
  recogniser: new ScriptedRecogniser([segmentOf(SPOKEN, 0)]),
});
const folder = mkdtempSync(join(tmpdir(), "antiphon-screenshot-"));
try {
  const spoken = await (await server.post("/v1/tts", { text: SPOKEN, speaker: "1" })).json();
  const wav = bytesOf(spoken.audio.data_b64);
  const samples = new Int16Array(wav.buffer.slice(44));
  const microphone = join(folder, "microphone.wav");
  writeFileSync(microphone, encodeWav([samples, new Int16Array(SILENCE_S * 24_000)]));
  const secret = await server.clientSecret(server.key, 600);
  const use = async ({ evaluate, send }) => {
    await send("Emulation.setDeviceMetricsOverride", SIZE);
    await send("Emulation.setScrollbarsHidden", { hidden: true });
    await send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: "light" }],
    });
    const is = (expression) => until(expression, async () => (await evaluate(expression)) === true);
    await is(`document.getElementById("key-state").textContent.startsWith("Connected")`);
    await evaluate(`document.getElementById("talk").click()`);
    await is(`document.querySelector(".assistant")?.dataset.state === "done"`);
    await evaluate(`{
      document.getElementById("typed").value = ${JSON.stringify(TYPED)};
      document.getElementById("type-form").requestSubmit();
      document.activeElement.blur();
    }`);
    await is(`[...document.querySelectorAll(".lit")].at(-1)?.textContent === "${WORD}"`);
    const { data: png } = await send("Page.captureScreenshot", { format: "png" });
    const file = fileURLToPath(new URL("../docs/playground.png", import.meta.url));
    writeFileSync(file, Buffer.from(png, "base64"));
    console.log(`${file}: ${Math.round((png.length * 3) / 4 / 1_024)} KiB`);
  };
  await inChromium(`${server.url}/#secret=${secret}`, use, fakeMicrophone(microphone));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
}
