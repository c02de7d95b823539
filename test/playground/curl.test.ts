import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP } from "../architecture/top.ts";

interface Curl {
  curlFor(url: string, body: object, fileNames: readonly (string | undefined)[]): string;
}

const { curlFor }: Curl = await import(pathToFileURL(join(TOP, "playground", "curl.js")).href);

const NASTY = `It's "quoted", $HOME, \`date\`, $(date), back\\slash, a\nnew line and 🎉`;

test("the curl command sends the body that the page sends, whatever is written in it", () => {
  const body = { conversation: [{ speaker: "0", text: NASTY }], params: { temperature: 0 } };
  assert.deepEqual(sent(curlFor("http://localhost:1/v1", body, []), "."), body);
});

test("the curl command reads audio from the file it came from", () => {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-"));
  try {
    const audio = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) % 256));
    writeFileSync(join(folder, "it's mine.wav"), audio);
    const conversation = [
      { speaker: "0", text: NASTY, audio_wav_b64: audio.toString("base64") },
      { speaker: "1", text: "Reply." },
    ];
    const command = curlFor("http://localhost:1/v1", { conversation }, ["it's mine.wav", undefined]);
    assert.ok(command.length < 1_000, "the audio itself is not in it");
    assert.deepEqual(sent(command, folder), { conversation });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** What a command's curl would send: curl is replaced with something that prints it. */
function sent(command: string, cwd: string): unknown {
  const curl =
    'curl() { for last; do :; done; if [ "$last" = "@-" ]; then cat; else printf %s "$last"; fi; }';
  const { stdout, stderr } = spawnSync("bash", ["-c", `${curl}\n${command}`], {
    cwd,
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}
