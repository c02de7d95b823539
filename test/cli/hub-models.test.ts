import assert from "node:assert/strict";
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { findHubWriter } from "../../src/catalogue/hub-writers.ts";
import { composeWriter } from "../../src/server/compose-writer.ts";
import { pullWriter } from "../../src/server/pull-writer.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { askLicence } from "../../src/terminal/ask-licence.ts";
import { fakeHub } from "../catalogue/hub/fake-hub.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import type { Finished } from "../e2e/program.ts";
import { until } from "../waiting.ts";
import { dialogueOf, replyOf } from "../writers/dialogues.ts";
import { CHATML_TEMPLATE, tinyGguf } from "../writers/tiny-gguf.ts";
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

/** The writer that the settings choose, over what is in a data directory. */
function writerOf(dataDir: string, flags: Record<string, string | boolean> = {}, asked: string[] = []) {
  const settings = loadSettings({
    flags: { dataDir, "writer.checkpoint": NAME, "writer.authoredReplies": false, ...flags },
  });
  const signal = new AbortController().signal;
  const weights = (checkpoint: string) => {
    asked.push(checkpoint);
    return pullWriter({ dataDir, checkpoint, pull: false, signal, observe: () => {} });
  };
  return composeWriter(settings, { weights, env: {} })!;
}

describe("a model of the hub", { concurrency: 2 }, () => {
  it("is one command away from being written with, behind the gate", async () => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await models(dataDir, "pull", `hf:${TINY}`, "--accept-licence");
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^ann\/Tiny-GGUF \(tiny-q4_k_m\.gguf, .* MB\): licence Apache-2\.0, https:.*accepted/m,
    );
    assert.match(stdout, new RegExp(`^${NAME} is installed: .*${NAME}\n`));
    assert.match(
      stdout,
      /\nIt writes [\d.]+ tokens a second here, and a first sentence takes [\d.]+ s\. To write/,
    );
    const writer = writerOf(dataDir);
    try {
      assert.equal(
        await replyOf(writer, dialogueOf("What is your favourite weather?")),
        "I like rain. It falls softly!",
      );
      assert.equal(writer.name, NAME);
      assert.match(await replyOf(writer, dialogueOf("How do I build a bomb at home?")), /I can't help with/);
    } finally {
      await writer.close();
    }
  });

  it("is not fetched where its licence can be asked for by nobody", async () => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await models(dataDir, "pull", `hf:${TINY}`);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(
      stderr,
      /^The licence of ann\/Tiny-GGUF .* has yet to be accepted: read it, then run this again with --accept-licence\. Nothing was fetched\.\n$/,
    );
    assert.ok(!existsSync(join(dataDir, "checkpoints")));
  });

  it("is listed, verified, mended and removed by its name", async () => {
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

  it("is listed with how fast it was here, and chosen by auto for that where its replies are known to be better", async () => {
    const dataDir = temporaryFolder();
    const { name, repository, path: file } = findHubWriter("qwen2.5-1.5b")!;
    hub.repository(repository, { [file]: BYTES });
    await models(dataDir, "pull", name, `hf:${TINY}`, "--accept-licence");
    const { checkpoints } = JSON.parse((await models(dataDir, "list", "--json")).stdout);
    const { speed } = checkpoints.find((one: { name: string }) => one.name === name);
    assert.ok(speed.read_tokens_per_s > 0 && speed.write_tokens_per_s > 0, JSON.stringify(speed));
    const expectedS = 200 / speed.read_tokens_per_s + 15 / speed.write_tokens_per_s;
    assert.ok(Math.abs(speed.first_sentence_s - expectedS) < 1e-9);
    const line = new RegExp(
      `^${name} +writer +installed +2\\.\\d MB +Apache-2\\.0 +better +[\\d.]+ +[\\d.]+ s$`,
      "m",
    );
    assert.match((await models(dataDir, "list")).stdout, line);

    const path = join(dataDir, "checkpoints", name, "speed.json");
    const stored = JSON.parse(readFileSync(path, "utf8"));
    // As if it had been measured on a fast machine, and then on a slow one.
    for (const [rate, chosen] of [
      [1_000, name],
      [1, "smollm2-135m"],
    ] as const) {
      writeFileSync(path, JSON.stringify({ ...stored, read_tokens_per_s: rate, write_tokens_per_s: rate }));
      const asked: string[] = [];
      const writer = writerOf(dataDir, { "writer.checkpoint": "auto", "writer.gate": false }, asked);
      await writer.prepare().catch(() => {});
      assert.deepEqual(asked, [chosen]);
      await writer.close();
    }
  });

  it("that cannot write is installed, and said to be of no use", async () => {
    hub.repository("ann/Abacus-GGUF", {
      "abacus.gguf": tinyGguf({ script: ["Hi", "."], architecture: "abacus" }),
    });
    const dataDir = temporaryFolder();
    const { code, stderr } = await models(dataDir, "pull", "hf:ann/Abacus-GGUF", "--accept-licence");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^The checkpoint ann\.abacus is installed, but cannot write here: .*its architecture “abacus”.*Run antiphon models rm ann\.abacus to/m,
    );
  });

  it("whose manifest is broken is listed as damaged, and can be removed", async () => {
    const dataDir = temporaryFolder();
    await models(dataDir, "pull", `hf:${TINY}`, "--accept-licence");
    writeFileSync(join(dataDir, "checkpoints", NAME, "manifest.json"), "{");
    assert.match((await models(dataDir, "list")).stdout, new RegExp(`^${NAME} +writer +damaged`, "m"));
    const { code, stderr } = await models(dataDir, "pull", NAME);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^The checkpoint ann.* is not JSON .*: run antiphon models rm ann.*, then pull it again/,
    );
    assert.equal((await models(dataDir, "rm", NAME)).code, 0);
  });

  const notThere: readonly [checkpoint: string, says: RegExp][] = [
    [
      "qwen3-0.6b",
      /qwen3-0\.6b of writer\.checkpoint is not installed: run antiphon models pull qwen3-0\.6b\./,
    ],
    ["nothing", /nothing of writer\.checkpoint is not installed: run antiphon models list/],
  ];
  for (const [checkpoint, says] of notThere) {
    it(`that is not installed, as ${checkpoint}, is named with the remedy`, async () => {
      const writer = writerOf(temporaryFolder(), { "writer.checkpoint": checkpoint });
      await assert.rejects(writer.prepare(), (error: Error) => {
        assert.match((error.cause as Error).message, says);
        return true;
      });
    });
  }

  for (const [name, says] of [
    ["hf:ann", /names nothing on the hub: write hf:OWNER\/REPO, or/],
    ["qwen3-0.7b", /no checkpoint "qwen3-0\.7b": did you mean qwen3-0\.6b\?/],
  ] as const) {
    it(`is called wrong by ${name}`, async () => {
      const { code, stderr } = await models(temporaryFolder(), "pull", name);
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }
});

describe("a person at a terminal", () => {
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
    it(`who answers ${JSON.stringify(answer)} has ${isAccepted ? "" : "not "}accepted`, async () => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true });
      let shown = "";
      stderr.on("data", (text: string) => {
        shown += text;
      });
      const asked = askLicence(question, {
        isAccepted: false,
        signal: new AbortController().signal,
        io: { stdin, stderr },
      });
      await until("the question", () => shown.includes("[y/N]"));
      stdin.write(`${answer}\n`);
      assert.equal(await asked, isAccepted);
      assert.match(shown, /ann\/Tiny-GGUF \(tiny\.gguf, 2\.0 MB\): licence MIT, https:\/\/example\.org\/mit/);
    });
  }
});
