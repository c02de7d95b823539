import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startTestServer } from "../api/http/start.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { within } from "../waiting.ts";
import { TOP, temporaryFolder } from "./folders.ts";
import { antiphon, type ProgramOptions } from "./program.ts";
import { WITHOUT_MODELS } from "./server-process.ts";

/** What `serve` says when it cannot start: one sentence on standard error. */
async function refusedStart(line: string[], exitCode: 1 | 2, options: ProgramOptions = {}): Promise<string> {
  const env = { ...WITHOUT_MODELS, ANTIPHON_WORKERS: "1", ...options.env };
  const call = ["serve", "--port", "0", ...line];
  const isOfItsOwn = options.top !== undefined || options.before !== undefined;
  const { code, stdout, stderr } = await (isOfItsOwn
    ? antiphon(call, { ...options, env })
    : runAntiphon(call, { env }));
  assert.equal(code, exitCode, stderr);
  assert.equal(stdout, "", "no address, and no key that would be lost with the start");
  const said = stderr.split("\n").filter((text) => text !== "" && !text.startsWith("{"));
  assert.equal(said.length, 1, stderr);
  assert.match(said[0] ?? "", /^[A-Z].*[.?]$/);
  assert.doesNotMatch(stderr, /\n\s+at /, "no stack");
  return said[0] ?? "";
}

/** What is published, as a copy to damage; only the packages that it needs are not copied. */
function copyOfThePackage(): string {
  const top = temporaryFolder();
  const { files } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8")) as { files: string[] };
  for (const part of [...files, "dist/voices", "package.json"]) {
    if (existsSync(join(TOP, part)))
      cpSync(join(TOP, part), join(top, part), { recursive: true, dereference: true });
  }
  symlinkSync(join(TOP, "node_modules"), join(top, "node_modules"));
  return top;
}

describe("a server that cannot start says why, and what to do, and exits 1:", () => {
  it("the port is in use", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await within("a port", once(holder, "listening"));
    const { port } = holder.address() as { port: number };
    const said = await refusedStart(["--port", `${port}`, "--data-dir", temporaryFolder()], 1);
    assert.ok(said.includes(`${port}`), said);
    assert.match(said, /in use.*--port/);
    holder.close();
  });

  it("the address is not this machine's", async () => {
    await assert.rejects(startTestServer({ flags: { host: "192.0.2.1" } }), {
      message: "The address 192.0.2.1 is not one of this machine: choose another with --host.",
    });
  });

  it("the database has no address, although buckets are shared already", async () => {
    const config = join(temporaryFolder(), "antiphon.json");
    const settings = { store: { kind: "postgres", urlFile: "no-such-file" }, buckets: { kind: "valkey" } };
    writeFileSync(config, JSON.stringify(settings));
    const env = { ANTIPHON_BUCKETS_URL: "redis://127.0.0.1:1" };
    const { code, stderr } = await runAntiphon(["serve", "--port", "0", "--config", config], {
      env: { ...WITHOUT_MODELS, ...env },
    });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^store\.urlFile \(.*no-such-file\) does not exist\.\n$/);
  });

  it("the database is damaged", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "antiphon.db"), "this is no database\n".repeat(400));
    const said = await refusedStart(["--data-dir", dataDir], 1);
    assert.ok(said.includes(join(dataDir, "antiphon.db")), said);
    assert.match(said, /damaged.*backup/);
  });

  it("the data directory is a file", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const said = await refusedStart(["--data-dir", file], 1);
    assert.ok(said.includes(file), said);
    assert.match(said, /--data-dir/);
  });

  it("the disk is full", async () => {
    const dataDir = temporaryFolder();
    const said = await refusedStart(["--data-dir", dataDir], 1, { before: "ulimit -f 4" });
    assert.ok(said.includes(join(dataDir, "antiphon.db")), said);
    assert.match(said, /full.*free some space/);
  });

  it("a graph of the voice is damaged", async () => {
    const top = copyOfThePackage();
    const graph = join(top, "voices/heart/split/prosody.onnx");
    const bytes = readFileSync(graph);
    bytes[bytes.length >> 1]! ^= 0x40;
    writeFileSync(graph, bytes);
    const said = await refusedStart(["--data-dir", temporaryFolder()], 1, { top });
    assert.ok(said.includes(graph), said);
    assert.match(said, /damaged.*install/);
  });

  it("the dictionary of the voice is cut short", async () => {
    const top = copyOfThePackage();
    const lexicon = join(top, "voices/heart/lexicon_us_gold.json.gz");
    truncateSync(lexicon, 300_000);
    const said = await refusedStart(["--data-dir", temporaryFolder()], 1, { top });
    assert.ok(said.includes(lexicon), said);
    assert.match(said, /damaged/);
  });

  it("a variable names no setting", async () => {
    const said = await refusedStart([], 1, { env: { ANTIPHON_PROT: "1" } });
    assert.match(said, /ANTIPHON_PROT.*did you mean ANTIPHON_PORT\?/);
  });

  it("the configuration file names no setting", async () => {
    const config = join(temporaryFolder(), "antiphon.json");
    writeFileSync(config, '{"prot": 1}');
    const said = await refusedStart(["--config", config], 1);
    assert.ok(said.includes(config), said);
    assert.match(said, /"prot".*did you mean port\?/);
  });

  it("the Wyoming bridge has no key", async () => {
    const said = await refusedStart(["--wyoming", "127.0.0.1:0", "--data-dir", temporaryFolder()], 1);
    assert.match(said, /no API key.*antiphon keys create.*wyomingKeyFile/);
  });

  it("the key of the Wyoming bridge is nobody's", async () => {
    const env = { ANTIPHON_WYOMING_KEY: "ant_0123456789012345678901234567890123456789" };
    const said = await refusedStart(["--wyoming", "127.0.0.1:0", "--data-dir", temporaryFolder()], 1, {
      env,
    });
    assert.match(said, /key of the Wyoming bridge is unknown.*antiphon keys create/);
    assert.ok(!said.includes("ant_"), said);
  });

  it("Twilio's auth token is none", async () => {
    const env = { ANTIPHON_TWILIO_AUTH_TOKEN: "0123," };
    const said = await refusedStart(["--data-dir", temporaryFolder()], 1, { env });
    assert.match(said, /ANTIPHON_TWILIO_AUTH_TOKEN or twilio\.authTokenFile holds a comma/);
    assert.ok(!said.includes("0123"), said);
  });

  it("the memory budget is too small for the voice", async () => {
    const env = { ANTIPHON_MEMORY_BUDGET_MB: "64" };
    const said = await refusedStart(["--data-dir", temporaryFolder()], 1, { env });
    assert.match(said, /64 MiB.*memoryBudgetMb/);
  });
});

describe("a server that is called wrongly says so and exits 2:", () => {
  const calls: readonly [line: string[], says: RegExp][] = [
    [["--port", "eighty"], /--port.*"eighty".*whole number/],
    [["--port", "65536"], /--port.*65535/],
    [["--wyoming", "10200"], /--wyoming.*an address and a port, as in 127.0.0.1:10200/],
    [["--prot", "1"], /--prot.*did you mean --port\?/],
  ];
  for (const [line, says] of calls) {
    it(`serve ${line.join(" ")}`, async () => {
      assert.match(await refusedStart(line, 2), says);
    });
  }
});
