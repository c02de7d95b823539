import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { askLicence } from "../../src/cli/models-pull.ts";
import { composeWriter } from "../../src/server/writer/compose-writer.ts";
import { pullWriter } from "../../src/server/writer/writer-weights.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import type { Finished } from "../e2e/program.ts";
import { fakeHub } from "../models/download/fake-hub.ts";
import { until, within } from "../waiting.ts";
import { dialogueOf, replyOf } from "../writers/dialogues.ts";
import { CHATML_TEMPLATE, tinyGguf } from "../writers/llama/tiny-gguf.ts";
import { runAntiphon } from "./run-antiphon.ts";

const TINY = "ann/Tiny-GGUF";
const NAME = "ann.tiny-q4_k_m";
const BYTES = tinyGguf({
  script: ["I", " like", " rain", ".", " It", " falls", " softly", "!"],
  chatTemplate: CHATML_TEMPLATE,
});

const hub = await fakeHub();
hub.repository(TINY, { "tiny-q4_k_m.gguf": BYTES });

function models(dataDir: string, ...line: string[]): Promise<Finished> {
  return runAntiphon(["models", ...line, "--data-dir", dataDir], { env: { HF_ENDPOINT: hub.endpoint } });
}

function writerOf(dataDir: string, flags: Record<string, string | boolean> = {}) {
  const settings = loadSettings({ flags: { dataDir, "writer.checkpoint": NAME, ...flags } });
  const signal = new AbortController().signal;
  const weights = (checkpoint: string) =>
    pullWriter({ dataDir, checkpoint, pull: false, signal, observe: () => {} });
  return composeWriter(settings, { weights, env: {} })!;
}

describe("a model of the hub", { concurrency: 2 }, () => {
  it("writes after one command, behind the gate with one setting", async () => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await models(dataDir, "pull", `hf:${TINY}`, "--accept-licence");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^ann\/Tiny-GGUF \(tiny-q4_k_m\.gguf, .* MB\): licence Apache-2\.0, https:/m);
    assert.match(stdout, new RegExp(`^${NAME} is installed: .*${NAME}\n`));
    assert.match(
      stdout,
      new RegExp(`\nTo write with it, .* ANTIPHON_WRITER_CHECKPOINT=${NAME} npx antiphon serve\n$`),
    );
    const danger = dialogueOf("How do I build a bomb at home?");
    const writer = writerOf(dataDir);
    const guarded = writerOf(dataDir, { "writer.gate": true });
    try {
      assert.equal(
        await replyOf(writer, dialogueOf("What is your favourite weather?")),
        "I like rain. It falls softly!",
      );
      assert.equal(writer.name, NAME);
      assert.equal(await replyOf(writer, danger), "I like rain. It falls softly!");
      assert.match(await replyOf(guarded, danger), /I can't help with/);
    } finally {
      await Promise.all([writer.close(), guarded.close()]);
    }
  });

  it("is not fetched if its licence cannot be accepted", async () => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await models(dataDir, "pull", `hf:${TINY}`);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^The licence of ann\/Tiny-GGUF .* has yet to be accepted: read it, then run this/);
    assert.ok(!existsSync(join(dataDir, "checkpoints")));
  });

  it("is listed, verified, repaired and removed by its name", async () => {
    const dataDir = temporaryFolder();
    await models(dataDir, "pull", `hf:${TINY}`, "--accept-licence");
    const listed = async () => {
      const { checkpoints } = JSON.parse((await models(dataDir, "list", "--json")).stdout);
      return checkpoints.find(({ name }: { name: string }) => name === NAME);
    };
    const { state, size_bytes, licence, hub: source, path } = await listed();
    assert.deepEqual(
      [state, size_bytes, licence, source],
      ["installed", BYTES.length, "Apache-2.0", `hf:${TINY}:tiny-q4_k_m.gguf`],
    );
    truncateSync(join(path, "tiny-q4_k_m.gguf"), 100);
    assert.equal((await listed()).state, "damaged");
    await assert.rejects(writerOf(dataDir).prepare(), /missing or damaged: run antiphon models pull ann/);
    assert.match((await models(dataDir, "pull", NAME)).stdout, /is installed: /);
    assert.ok(readFileSync(join(path, "tiny-q4_k_m.gguf")).equals(BYTES));
    assert.equal((await models(dataDir, "rm", NAME)).stdout, `${NAME} is removed.\n`);
    assert.equal(await listed(), undefined);
  });

  it("keeps what an interrupted pull fetched", async () => {
    const big = Buffer.alloc(40_000_000, 7);
    const repository = hub.repository("ann/Big-GGUF", { "big.gguf": big });
    repository.serve = (response, bytes, from) => {
      response.writeHead(from > 0 ? 206 : 200, { "content-length": bytes.length - from });
      response.write(bytes.subarray(from, 20_000_000));
      return true;
    };
    const dataDir = temporaryFolder();
    const main = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
    const line = [main, "models", "pull", "hf:ann/Big-GGUF", "--accept-licence", "--data-dir", dataDir];
    const child = spawn(process.execPath, line, { env: { ...process.env, HF_ENDPOINT: hub.endpoint } });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (!stderr.includes("40 %") && (stderr + text).includes("40 %")) child.kill("SIGINT");
      stderr += text;
    });
    assert.deepEqual(await within("the pull to be interrupted", once(child, "close")), [null, "SIGINT"]);
    assert.match(stderr, /\nInterrupted: what was fetched is kept, and the next pull resumes from there/);
    repository.serve = () => false;
    const next = await models(dataDir, "pull", "hf:ann/Big-GGUF", "--accept-licence");
    assert.match(next.stderr, /\(40\.0 MB, of which \d+\.\d MB are here\)/);
  });

  it("that cannot write is installed, with a warning", async () => {
    hub.repository("ann/Abacus-GGUF", {
      "abacus.gguf": tinyGguf({ script: ["Hi", "."], architecture: "abacus" }),
    });
    const dataDir = temporaryFolder();
    const { code, stderr } = await models(dataDir, "pull", "hf:ann/Abacus-GGUF", "--accept-licence");
    assert.equal(code, 1);
    assert.match(stderr, /^The checkpoint ann\.abacus is installed, but cannot write here: .*its/m);
  });

  it("with a broken manifest is listed as damaged, and can be removed", async () => {
    const dataDir = temporaryFolder();
    await models(dataDir, "pull", `hf:${TINY}`, "--accept-licence");
    writeFileSync(join(dataDir, "checkpoints", NAME, "manifest.json"), "{");
    assert.match((await models(dataDir, "list")).stdout, new RegExp(`^${NAME} +writer +damaged`, "m"));
    const { code, stderr } = await models(dataDir, "pull", NAME);
    assert.equal(code, 1);
    assert.match(stderr, /^The checkpoint ann.* is not JSON .*: run antiphon models rm ann.*, then pull it/);
    assert.equal((await models(dataDir, "rm", NAME)).code, 0);
  });

  const notThere: readonly [checkpoint: string, says: RegExp][] = [
    ["qwen3-1.7b", /qwen3-1\.7b of writer\.checkpoint is not installed: run antiphon models pull qwen3-1/],
    ["auto", /auto of writer\.checkpoint is not installed: set .* or leave it out for small talk\./],
  ];
  for (const [checkpoint, says] of notThere) {
    it(`that is not installed, as ${checkpoint}, is reported with the remedy`, async () => {
      const writer = writerOf(temporaryFolder(), { "writer.checkpoint": checkpoint });
      await assert.rejects(writer.prepare(), (error: Error) => {
        assert.equal(/models pull/.test(error.message), checkpoint !== "auto", error.message);
        assert.match((error.cause as Error).message, says);
        return true;
      });
    });
  }

  for (const [name, says] of [
    ["hf:ann", /is not a name on the hub: write hf:OWNER\/REPO, or/],
    ["qwen3-1.8b", /no checkpoint "qwen3-1\.8b": did you mean qwen3-1\.7b\?/],
  ] as const) {
    it(`is not found as ${name}`, async () => {
      const { code, stderr } = await models(temporaryFolder(), "pull", name);
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }
});

describe("the licence question", () => {
  const question = {
    repository: TINY,
    licence: "MIT",
    licenceUrl: "https://example.org/mit",
    file: "tiny.gguf",
    sizeBytes: 2_000_000,
  };

  for (const [answer, isAccepted] of [
    ["y", true],
    ["Yes", true],
    ["", false],
    ["no", false],
    ["yo", false],
  ] as const) {
    it(`is ${isAccepted ? "accepted" : "declined"} by ${JSON.stringify(answer)}`, async () => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true });
      let shown = "";
      stderr.on("data", (text: string) => {
        shown += text;
      });
      const asked = askLicence(question, false, { stdin, stderr }, new AbortController().signal);
      await until("the question", () => shown.includes("[y/N]"));
      stdin.write(`${answer}\n`);
      assert.equal(await asked, isAccepted);
      assert.match(shown, /ann\/Tiny-GGUF \(tiny\.gguf, 2\.0 MB\): licence MIT, https:\/\/example\.org\/mit/);
    });
  }
});
