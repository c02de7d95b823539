import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openTenancy } from "../../src/accounts/open.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { antiphon, type Finished } from "../e2e/program.ts";
import { runAntiphon } from "./run-antiphon.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "antiphon-cli-"));
});
after(() => rm(folder, { recursive: true }));

async function output(...line: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAntiphon(line);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
}

function refusedWith({ code, stdout, stderr }: Finished, exitCode: 1 | 2): string {
  assert.equal(code, exitCode, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /^[A-Z][^\n]*[.?]\n$/, "one plain sentence");
  return stderr;
}

describe("antiphon keys and usage", { concurrency: 2 }, () => {
  it("creates, lists, meters, updates and revokes keys of a running server", async () => {
    const dataDir = join(folder, "beside");
    const server = await openTenancy(loadSettings({ flags: { dataDir } }));
    const at = ["--data-dir", dataDir];
    const made = JSON.parse(
      await output("keys", "create", "--label", "team Ω", "--rpm", "30", "--burst", "5", "--json", ...at),
    );
    assert.deepEqual(Object.keys(made), ["key", "key_id", "label", "rpm", "burst"]);
    const { key, key_id: keyId } = made;
    assert.deepEqual(await server.authenticate(key), { keyId, label: "team Ω", rpm: 30, burst: 5 });

    const event = {
      eventId: "e1",
      keyId,
      inputChars: 12,
      inputAudioS: 1.5,
      outputAudioS: 0.56,
      tsS: 1_700_000_000.5,
    };
    await server.commit(event);
    const summary = {
      key_id: keyId,
      requests: 1,
      input_chars: 12,
      input_audio_seconds: 1.5,
      output_audio_seconds: 0.56,
      last_request_ts: 1_700_000_000.5,
    };
    assert.deepEqual(JSON.parse(await output("usage", keyId, "--json", ...at)), summary);
    assert.deepEqual(JSON.parse(await output("usage", "--json", ...at)), [summary]);
    assert.match(await output("usage", ...at), /^KEY_ID .*\nkey_\w{12} +1 +12 +1\.50 +0\.56 +2023-11-14T22/);

    assert.equal(
      await output("keys", "update", keyId, "--rpm", "90", ...at),
      `Key ${keyId} (team Ω): 90 requests a minute, 5 at once.\n`,
    );
    assert.deepEqual(await server.authenticate(key), { keyId, label: "team Ω", rpm: 90, burst: 5 });

    assert.match(await output("keys", "revoke", keyId, ...at), /is revoked/);
    const late = await runAntiphon(["keys", "update", keyId, "--rpm", "9", ...at]);
    assert.match(refusedWith(late, 1), /is revoked: make another/);
    assert.equal(await server.authenticate(key), null);
    const [listed] = JSON.parse(await output("keys", "list", "--json", ...at));
    assert.deepEqual(Object.keys(listed), ["key_id", "label", "rpm", "burst", "created_ts", "revoked_ts"]);
    assert.ok(listed.revoked_ts >= listed.created_ts);
    await server.close();
  });

  it("prints a new key once", async () => {
    const at = ["--data-dir", join(folder, "once")];
    const printed = await output("keys", "create", "--label", "team", ...at);
    const [key, ...rest] = printed.trimEnd().split("\n");
    assert.match(key ?? "", /^ant_[0-9A-Za-z]{38}$/);
    assert.match(rest.join("\n"), /^Key key_\w{12} \(team\): 600 requests a minute, 60 at once\.\n.*not/);
    const listed = (await output("keys", "list", ...at)) + (await output("keys", "list", "--json", ...at));
    assert.ok(!listed.includes(String(key)));
    const database = readFileSync(join(folder, "once", "antiphon.db"));
    assert.ok(!database.includes(String(key)), "the secret is not in the database either");
  });

  it("finds the data directory by flag, environment, then file", async () => {
    const config = join(folder, "antiphon.json");
    writeFileSync(config, JSON.stringify({ dataDir: "from-file", defaultKeyRpm: 7 }));
    const create = ["keys", "create", "--label", "x", "--json", "--config", config];
    const env = { ANTIPHON_DATA_DIR: join(folder, "from-env"), ANTIPHON_DEFAULT_KEY_BURST: "3" };
    const { rpm, burst } = JSON.parse((await runAntiphon(create, { env })).stdout);
    assert.deepEqual([rpm, burst], [7, 3]);
    await output(...create);
    await output(...create);
    assert.equal(
      JSON.parse(await output("keys", "list", "--json", "--data-dir", join(folder, "from-env"))).length,
      1,
    );
    assert.equal(
      JSON.parse(await output("keys", "--data-dir", join(folder, "from-file"), "list", "--json")).length,
      2,
    );
  });

  it("prints empty lists without keys", async () => {
    const at = ["--json", "--data-dir", join(folder, "empty")];
    assert.equal(await output("keys", "list", ...at), "[]\n");
    assert.equal(await output("usage", ...at), "[]\n");
  });

  it("checks whether the database is sound", async () => {
    const dataDir = join(folder, "checked");
    const at = ["--data-dir", dataDir];
    assert.match(refusedWith(await runAntiphon(["check", ...at]), 1), /There is no database .*--data-dir/);
    const server = await openTenancy(loadSettings({ flags: { dataDir } }));
    await server.createKey({ label: "x", rpm: 1, burst: 1 });
    assert.equal((await antiphon(["check", ...at])).stdout, `The database in ${dataDir} is sound.\n`);
    await server.close();
    const path = join(dataDir, "antiphon.db");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, 4_096, 8_192));
    assert.match(refusedWith(await runAntiphon(["check", ...at]), 1), /is damaged .*restore it from a/);
  });

  it("exits with 1 for an unknown key", async () => {
    const at = ["--data-dir", join(folder, "strangers")];
    assert.match(refusedWith(await runAntiphon(["keys", "revoke", "key_x", ...at]), 1), /no key "key_x"/);
    const made = JSON.parse(await output("keys", "create", "--label", "by its name", "--json", ...at));
    assert.match(
      refusedWith(await runAntiphon(["keys", "revoke", "by its name", ...at]), 1),
      new RegExp(`it is a label, not an id; run antiphon keys revoke ${made.key_id}\\.`),
    );
    const misnamed = await runAntiphon(["keys", "update", "by its name", "--rpm", "9", ...at]);
    assert.match(refusedWith(misnamed, 1), new RegExp(`run antiphon keys update ${made.key_id}\\.`));
    assert.match(refusedWith(await runAntiphon(["usage", "key_x", ...at]), 1), /no key "key_x"/);
  });

  it("exits with 1 and no stack for an unusable data directory", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const line = ["keys", "list", "--data-dir", file];
    assert.match(refusedWith(await runAntiphon(line), 1), /cannot be opened for writing .*--data-dir/);
    const debugged = await runAntiphon(line, { env: { ANTIPHON_DEBUG: "1" } });
    assert.equal(debugged.code, 1);
    assert.match(debugged.stderr, /\n\s+at .*\.js:\d+/);
  });

  it("exits with 1 for an invalid variable or file", async () => {
    const wrong = await runAntiphon(["keys", "list"], { env: { ANTIPHON_DATADIR: "/x" } });
    assert.match(refusedWith(wrong, 1), /ANTIPHON_DATADIR .*did you mean ANTIPHON_DATA_DIR\?/);
    const missing = await runAntiphon(["usage", "--config", join(folder, "none.json")]);
    assert.match(refusedWith(missing, 1), /none\.json cannot be read/);
  });

  const calledWrongly: readonly [line: string[], says: RegExp][] = [
    [["keys", "create"], /--label/],
    [["keys", "create", "--label", "x", "--rpm", "abc"], /--rpm is "abc".*whole number/],
    [["keys", "create", "--label", "x", "--rpm", "0"], /rpm is 0.*from 1 to 1000000/],
    [["keys", "create", "--label", "x", "--burst", "-1"], /--burst/],
    [["keys", "create", "--label", "x", "--burst", "1.5"], /--burst/],
    [["keys", "create", "--label", " "], /label is empty/],
    [["keys", "create", "--label", "x", "--brust", "3"], /did you mean --burst\?/],
    [["keys", "update", "key_x"], /There is nothing to change: give --label/],
    [["keys", "update", "key_x", "--burst", "0"], /burst is 0.*from 1 to 1000000/],
    [["keys", "update", "key_x", "--label", ""], /label is empty/],
    [["keys", "revoke"], /key_id/],
    [["keys", "revoke", "a", "b"], /too many arguments/i],
    [["keys", "crate"], /did you mean create\?/],
    [["usage", "--data-dir"], /--data-dir/],
    [["usage", "--data-dir", ""], /--data-dir is ""/],
    [["sing"], /unknown command 'sing'/i],
  ];
  for (const [line, says] of calledWrongly) {
    it(`exits with 2 for ${line.join(" ")}`, async () => {
      assert.match(
        refusedWith(await runAntiphon(line, { env: { ANTIPHON_DATA_DIR: join(folder, "wrong") } }), 2),
        says,
      );
    });
  }

  it("has --help and --version on every command", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
    const commands = [
      [],
      ["keys"],
      ["keys", "create"],
      ["keys", "list"],
      ["keys", "update"],
      ["keys", "revoke"],
      ["usage"],
      ["check"],
    ];
    await Promise.all(
      commands.map(async (line) => {
        assert.equal(await output(...line, "--version"), `${version}\n`);
        const help = await output(...line, "--help");
        for (const says of ["Usage: antiphon", "--data-dir", "--version", "--help"])
          assert.ok(help.includes(says), help);
      }),
    );
  });
});
