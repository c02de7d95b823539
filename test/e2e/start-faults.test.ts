import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { startTestServer } from "../api/http/start.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { within } from "../waiting.ts";
import { TOP, temporaryFolder } from "./folders.ts";
import { antiphon, type ProgramOptions } from "./program.ts";
import { WITHOUT_MODELS } from "./server-process.ts";

/** Checks that `serve` fails to start with one sentence on standard error; returns the sentence. */
async function startError(line: string[], exitCode: 1 | 2, options: ProgramOptions = {}): Promise<string> {
  const env = { ...WITHOUT_MODELS, ANTIPHON_WORKERS: "1", ...options.env };
  const call = ["serve", "--port", "0", ...line];
  const needsProcess = options.top !== undefined || options.before !== undefined;
  const { code, stdout, stderr } = await (needsProcess
    ? antiphon(call, { ...options, env })
    : runAntiphon(call, { env }));
  assert.equal(code, exitCode, stderr);
  assert.equal(stdout, "", "no address, and no key that would be lost");
  const sentences = stderr.split("\n").filter((text) => text !== "" && !text.startsWith("{"));
  assert.equal(sentences.length, 1, stderr);
  assert.match(sentences[0] ?? "", /^[A-Z].*[.?]$|^store\./);
  assert.doesNotMatch(stderr, /\n\s+at /, "no stack");
  return sentences[0] ?? "";
}

/** Copies the published package, in order to damage it; its dependencies are linked. */
function copyPackage(): string {
  const top = temporaryFolder();
  const { files } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8")) as { files: string[] };
  for (const part of [...files, "dist/voices", "package.json"]) {
    if (existsSync(join(TOP, part)))
      cpSync(join(TOP, part), join(top, part), { recursive: true, dereference: true });
  }
  symlinkSync(join(TOP, "node_modules"), join(top, "node_modules"));
  return top;
}

function fileOf(text: string, name: string): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}

describe("antiphon serve exits with 1 and a sentence", () => {
  it("if the port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await within("a port", once(other, "listening"));
    const { port } = other.address() as { port: number };
    const error = await startError(["--port", `${port}`, "--data-dir", temporaryFolder()], 1);
    assert.ok(error.includes(`${port}`), error);
    assert.match(error, /in use.*--port/);
    other.close();
  });

  it("if the address is not this machine's", async () => {
    await assert.rejects(startTestServer({ flags: { host: "192.0.2.1" } }), {
      message: "The address 192.0.2.1 is not one of this machine: choose another with --host.",
    });
  });

  it("if the disk is full", async () => {
    const dataDir = temporaryFolder();
    const error = await startError(["--data-dir", dataDir], 1, { before: "ulimit -f 4" });
    assert.ok(error.includes(join(dataDir, "antiphon.db")), error);
    assert.match(error, /full.*free some space/);
  });

  it("if a graph or the dictionary of the voice is damaged", async () => {
    const top = copyPackage();
    const graph = join(top, "voices/heart/split/prosody.onnx");
    const lexicon = join(top, "voices/heart/lexicon_us_gold.json.gz");
    const bytes = readFileSync(graph);
    const middle = bytes.length >> 1;
    writeFileSync(graph, Buffer.from(bytes).fill(bytes[middle]! ^ 0x40, middle, middle + 1));
    const graphError = await startError(["--data-dir", temporaryFolder()], 1, { top });
    assert.ok(graphError.includes(graph), graphError);
    assert.match(graphError, /damaged.*install/);
    writeFileSync(graph, bytes);
    truncateSync(lexicon, 300_000);
    const lexiconError = await startError(["--data-dir", temporaryFolder()], 1, { top });
    assert.ok(lexiconError.includes(lexicon), lexiconError);
    assert.match(lexiconError, /damaged/);
  });

  const damaged = fileOf("this is no database\n".repeat(400), "antiphon.db");
  const notAFolder = fileOf("", "file");
  const config = fileOf('{"prot": 1}', "antiphon.json");
  const store = { kind: "postgres", urlFile: "no-such-file" };
  const noUrl = fileOf(JSON.stringify({ store, buckets: { kind: "valkey" } }), "antiphon.json");
  const wyoming = ["--wyoming", "127.0.0.1:0"];
  const cases: readonly [why: string, line: string[], env: Record<string, string>, error: RegExp][] = [
    [
      "the database has no address",
      ["--config", noUrl],
      { ANTIPHON_BUCKETS_URL: "redis://127.0.0.1:1" },
      /^store\.urlFile \(.*no-such-file\) does not exist\.$/,
    ],
    ["the database is damaged", ["--data-dir", dirname(damaged)], {}, /antiphon\.db.*damaged.*backup/],
    ["the data directory is a file", ["--data-dir", notAFolder], {}, /file\/antiphon\.db cannot be opened/],
    ["a variable names no setting", [], { ANTIPHON_PROT: "1" }, /ANTIPHON_PROT.*did you mean/],
    ["the file names no setting", ["--config", config], {}, /antiphon\.json.*"prot".*did you mean port\?/],
    ["the Wyoming bridge has no key", wyoming, {}, /no API key.*antiphon keys create.*wyomingKeyFile/],
    [
      "the Wyoming key is unknown",
      wyoming,
      { ANTIPHON_WYOMING_KEY: "ant_0123456789012345678901234567890123456789" },
      /^(?!.*ant_).*key of the Wyoming bridge is unknown.*antiphon keys create/,
    ],
    [
      "Twilio's auth token holds a comma",
      [],
      { ANTIPHON_TWILIO_AUTH_TOKEN: "0123," },
      /^(?!.*0123).*ANTIPHON_TWILIO_AUTH_TOKEN or twilio\.authTokenFile has an empty token next to a comma/,
    ],
    ["the memory budget is too small", [], { ANTIPHON_MEMORY_BUDGET_MB: "64" }, /64 MiB.*memoryBudgetMb/],
  ];
  for (const [why, line, env, error] of cases)
    it(`if ${why}`, async () => assert.match(await startError(line, 1, { env }), error));
});

describe("antiphon serve exits with 2 and a sentence", () => {
  for (const [line, error] of [
    [["--port", "eighty"], /--port.*"eighty".*whole number/],
    [["--port", "65536"], /--port.*65535/],
    [["--wyoming", "10200"], /--wyoming.*an address and a port, as in 127.0.0.1:10200/],
    [["--prot", "1"], /--prot.*did you mean --port\?/],
  ] as const)
    it(`for ${line.join(" ")}`, async () => assert.match(await startError([...line], 2), error));
});
