import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openEncoder } from "../../src/audio/encode/open-encoder.ts";
import { startTestServer } from "../api/http/start.ts";
import { decode } from "../audio/encode/decoders.ts";
import { NEEDS_CHROMIUM } from "../client/browser.ts";
import { until } from "../waiting.ts";
import { connect, inPlayground, speak } from "./playground.ts";

const TYPES: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  flac: "audio/flac",
  vtt: "text/vtt",
  srt: "application/x-subrip",
};

test("saves a reply in every format, each a valid file", NEEDS_CHROMIUM, async () => {
  const server = await startTestServer();
  const folder = mkdtempSync(join(tmpdir(), "antiphon-"));
  const saved: Record<string, Buffer> = {};
  try {
    await inPlayground(server, "#0=The+kettle+is+on.+Tea+soon%3F", async (page) => {
      await page.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
      await page.evaluate(`{
        window.types = [];
        const make = URL.createObjectURL;
        URL.createObjectURL = (file) => { types.push(file.type); return make.call(URL, file); };
      }`);
      await connect(page, server);
      const isSavable = `![...document.querySelectorAll("#save button")].some(({ disabled }) => disabled)`;
      assert.equal(await page.evaluate(isSavable), false);
      await speak(page);
      await page.is(isSavable);
      for (const kind of Object.keys(TYPES)) {
        await page.click(`#save [aria-label="Save as ${{ opus: "Opus" }[kind] ?? kind.toUpperCase()}"]`);
        const file = join(folder, `antiphon.${kind}`);
        // The file is empty until it is complete.
        await until(`antiphon.${kind}`, () => existsSync(file) && statSync(file).size > 0);
        saved[kind] = readFileSync(file);
      }
      assert.deepEqual(await page.evaluate("types"), Object.values(TYPES));
    });
  } finally {
    rmSync(folder, { recursive: true });
    await server.stop();
  }
  const text = "The kettle is on. Tea soon?";
  const wav = await decode("wav", saved.wav!);
  assert.equal(wav.samples.length, 1_440 * text.length);
  for (const kind of ["mp3", "opus", "flac"] as const) {
    const { samples, rateHz } = await decode(kind, saved[kind]!);
    assert.equal(rateHz, 24_000);
    if (kind !== "mp3") assert.equal(samples.length, wav.samples.length, kind);
    const encoder = await openEncoder(kind);
    const pcm = Int16Array.from(wav.samples, (sample) => Math.round(32_768 * sample));
    const pieces = [encoder.push(pcm), encoder.end()];
    const here = Buffer.concat([encoder.finishedHead(), ...pieces]);
    encoder.free();
    assert.equal(saved[kind]!.length, here.length, `${kind}: as the server makes it`);
    if (kind === "mp3") assert.ok(saved.mp3!.equals(here));
    if (kind === "flac") assert.deepEqual([...samples], [...(await decode("flac", here)).samples]);
  }
  assert.match(
    `${saved.vtt}`,
    /^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.960\nThe kettle is on\.\n\n00:.*\nTea soon\?\n/,
  );
  assert.match(
    `${saved.srt}`,
    /^1\n00:00:00,000 --> 00:00:00,960\nThe kettle is on\.\n\n2\n00:.*\nTea soon\?\n/,
  );
});
