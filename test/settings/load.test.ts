import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { LEAVES } from "../../src/settings/leaves.ts";
import { loadSettings, type SettingSources } from "../../src/settings/load.ts";
import { SettingsError } from "../../src/settings/settings-error.ts";
import fc from "../properties.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-settings-"));
after(() => rmSync(folder, { recursive: true }));

function fileHolding(text: string): string {
  const path = join(folder, `${LEAVES.length}-${Math.abs(hash(text))}.json`);
  writeFileSync(path, text);
  return path;
}

function hash(text: string): number {
  return [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) | 0, 7);
}

function refusal(sources: SettingSources): SettingsError {
  try {
    loadSettings(sources);
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    assert.match(error.message, /^[A-Z].*[.?]$/s, "one plain sentence");
    return error;
  }
  assert.fail("nothing was refused");
}

describe("settings", () => {
  it("quotes no user or password of a refused address", () => {
    const urls = ["htp://ann:guess/ed@speech.example/v1"];
    const checkpoints = { kokoro: { remote: { ...KOKORO.remote, urls } } };
    for (const sources of [
      { configFile: fileHolding(JSON.stringify({ checkpoints })) },
      { env: { ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints) } },
      { env: { ANTIPHON_CHECKPOINTS: `{"kokoro": "${urls[0]}",}` } },
      { env: { ANTIPHON_WRITER_BASE_URL: urls[0] } },
      { flags: { port: urls[0] } },
    ])
      assert.doesNotMatch(refusal(sources).message, /ann|guess/);
    assert.match(refusal({ flags: { port: urls[0] } }).message, /"htp:\/\/…@speech\.example\/v1"/);
  });

  it("has frozen defaults", () => {
    const settings = loadSettings();
    assert.equal(settings.host, "127.0.0.1");
    assert.equal(settings.port, 8080);
    assert.equal(settings.pull, true);
    assert.equal(settings.trustProxy, false);
    assert.deepEqual(settings.metrics, { enabled: true, host: "127.0.0.1" });
    assert.ok(settings.dataDir.endsWith("antiphon"), settings.dataDir);
    assert.ok(Object.isFrozen(settings) && Object.isFrozen(settings.metrics));
  });

  it("prefers flags to the environment, and that to the file", () => {
    const configFile = fileHolding('{"port": 1, "host": "file", "queueDepth": 3, "metrics": {"port": 9}}');
    const env = { ANTIPHON_PORT: "2", ANTIPHON_HOST: "environment" };
    const settings = loadSettings({ flags: { port: "3", host: undefined }, env, configFile });
    assert.equal(settings.port, 3);
    assert.equal(settings.host, "environment");
    assert.equal(settings.queueDepth, 3);
    assert.equal(settings.metrics.port, 9);
  });

  it("resolves a relative data folder against its source", () => {
    const configFile = fileHolding('{"dataDir": "data"}');
    assert.equal(loadSettings({ configFile }).dataDir, join(folder, "data"));
    assert.equal(loadSettings({ env: { ANTIPHON_DATA_DIR: "data" } }).dataDir, resolve("data"));
    assert.equal(loadSettings({ flags: { dataDir: "/srv/x" }, configFile }).dataDir, "/srv/x");
  });

  it("reads every kind of value from the environment", () => {
    const { pull, trustProxy, logLevel, metrics } = loadSettings({
      env: {
        ANTIPHON_PULL: "false",
        ANTIPHON_TRUST_PROXY: "10.0.0.0/8, ::1,loopback",
        ANTIPHON_LOG_LEVEL: "warn",
        ANTIPHON_METRICS_ENABLED: "false",
        ANTIPHON_DEBUG: "1",
        ANTIPHONY: "somebody else's",
        PORT: "99",
      },
    });
    assert.deepEqual(
      { pull, trustProxy, logLevel, metrics },
      {
        pull: false,
        trustProxy: ["10.0.0.0/8", "::1", "loopback"],
        logLevel: "warn",
        metrics: { enabled: false, host: "127.0.0.1" },
      },
    );
    assert.equal(loadSettings({ env: { ANTIPHON_TRUST_PROXY: "true" } }).trustProxy, true);
  });

  it("takes origins as a list, or an asterisk alone", () => {
    const corsOrigins = (text: string) => loadSettings({ env: { ANTIPHON_CORS_ORIGINS: text } }).corsOrigins;
    assert.deepEqual(loadSettings().corsOrigins, []);
    assert.equal(corsOrigins("*"), "*");
    const sent = ["https://app.example", "app://obsidian.md", "http://a.example:443", "http://[::1]:8080"];
    assert.deepEqual(corsOrigins(sent.join(", ")), sent);
    for (const wrong of [
      "https://app.example/",
      "app.example",
      "https://App.example",
      "*,https://a.example",
      "",
      // Browsers omit a scheme's default port, and send names in ASCII.
      "https://app.example:443",
      "http://app.example:80",
      "https://bücher.example",
    ]) {
      assert.throws(
        () => corsOrigins(wrong),
        /the setting corsOrigins takes \* or a list of origins as browsers send them, such as https:\/\/app\.example: correct/,
        wrong,
      );
    }
  });

  const KOKORO = { remote: { kind: "openai", urls: ["http://127.0.0.1:8880/v1"], model: "kokoro" } };
  const REMOTE = {
    ...KOKORO.remote,
    format: "wav",
    sampleRateHz: 24_000,
    references: false,
    maxConcurrent: 32,
    firstSoundTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
  };

  it("takes maps from the file or as JSON, and fills in defaults", () => {
    const models = { "svc-beta-v0.3": { checkpoint: "kokoro" } };
    const given = { models, checkpoints: { kokoro: KOKORO } };
    const fromFile = loadSettings({ configFile: fileHolding(JSON.stringify(given)) });
    const fromEnvironment = loadSettings({
      env: {
        ANTIPHON_MODELS: JSON.stringify(models),
        ANTIPHON_CHECKPOINTS: JSON.stringify(given.checkpoints),
      },
    });
    for (const settings of [fromFile, fromEnvironment]) {
      assert.deepEqual(settings.models, models);
      assert.deepEqual(settings.checkpoints, { kokoro: { remote: REMOTE } });
      assert.ok(Object.isFrozen(settings.checkpoints.kokoro?.remote?.urls));
    }
    assert.deepEqual(loadSettings().checkpoints, {});
  });

  it("fills in defaults of a local checkpoint, with paths from the file's folder", () => {
    const voices = { "0": { clip: "me.wav", text: "It is me." }, "1": { preset: "ryan" } };
    const checkpoints = { own: { path: "csm", voices }, "csm-1b": {} };
    const settings = loadSettings({ configFile: fileHolding(JSON.stringify({ checkpoints })) });
    const defaults = {
      precision: "int8",
      maxConcurrent: 4,
      threads: 0,
      pace: "throughput",
      resident: true,
      idleUnloadS: 0,
    };
    const clip = { ...voices["0"], clip: join(folder, "me.wav") };
    const own = { path: join(folder, "csm"), ...defaults, voices: { ...voices, "0": clip } };
    assert.deepEqual(settings.checkpoints, { own, "csm-1b": defaults });
  });

  it("resolves a checkpoint's key file against the file's folder", () => {
    const checkpoints = { kokoro: { remote: { ...KOKORO.remote, keyFile: "kokoro.key" } } };
    const settings = loadSettings({ configFile: fileHolding(JSON.stringify({ checkpoints })) });
    assert.equal(settings.checkpoints.kokoro?.remote?.keyFile, join(folder, "kokoro.key"));
  });

  const inside = (remote: object) => ({
    configFile: fileHolding(JSON.stringify({ checkpoints: { kokoro: { remote } } })),
  });

  const here = (own: object) => ({ configFile: fileHolding(JSON.stringify({ checkpoints: { own } })) });

  const file = (text: string) => ({ configFile: fileHolding(text) });
  const env = (name: string, text: string) => ({ env: { [`ANTIPHON_${name}`]: text } });
  const remote = (change: object) => inside({ ...KOKORO.remote, ...change });
  const both = JSON.stringify({ checkpoints: { kokoro: { ...KOKORO, path: "/srv" } } });
  const refusals: readonly [what: string, sources: SettingSources, message: RegExp][] = [
    ["a misspelt variable", env("PROT", "1"), /ANTIPHON_PROT .*did you mean ANTIPHON_PORT\?/],
    ["an unknown variable", env("SHOE_SIZE", "1"), /ANTIPHON_SHOE_SIZE names no setting: unset it/],
    ["a port that is no number", env("PORT", "80a"), /ANTIPHON_PORT is "80a".* number from 0 to 65535/],
    ["an empty variable", env("PORT", ""), /ANTIPHON_PORT is ""/],
    ["a number in scientific notation", env("PORT", "8e3"), /ANTIPHON_PORT/],
    ["a number with a space", env("PORT", " 80"), /ANTIPHON_PORT/],
    ["a hexadecimal number", env("PORT", "0x50"), /ANTIPHON_PORT/],
    ["a port above the range", { flags: { port: "65536" } }, /--port is "65536".* from 0 to 65535/],
    ["yes for true", env("PULL", "yes"), /ANTIPHON_PULL is "yes".*true or false/],
    ["a proxy that is no address", env("TRUST_PROXY", "yes"), /ANTIPHON_TRUST_PROXY/],
    ["an unknown level", env("LOG_LEVEL", "INFO"), /one of fatal, error, warn/],
    ["an unknown flag", { flags: { hosts: "x" } }, /"hosts" names no setting: did you mean host\?/],
    ["a boolean for a number", { flags: { port: true } }, /--port is true/],
    ["a missing file", { configFile: join(folder, "none.json") }, /none\.json cannot be read \(ENOENT\)/],
    ["a file that is no JSON", file("{port: 1}"), /is not JSON/],
    ["a file that is no object", file("[1]"), /holds \[1\].*an object of settings/],
    ["a number as text in the file", file('{"port": "80"}'), /setting port .* is "80".*whole number/],
    ["a misspelt key", file('{"metrics": {"enabld": true}}'), /"metrics\.enabld".*mean metrics\.enabled\?/],
    ["a group that is no object", file('{"metrics": true}'), /is true.*an object with enabled, port, host/],
    ["a key with a dot", file('{"metrics.port": 1}'), /"metrics\.port", which is not a setting/],
    ["a misspelt key inside a checkpoint", remote({ url: "http://127.0.0.1" }), /\.url",.*remote\.urls\?/],
    ["a checkpoint that is local and remote", file(both), /kokoro\.path .* nothing where .*\.remote is/],
    ["an unknown precision", here({ path: "/srv/csm", precision: "int2" }), /own\.precision .* fp32, int8/],
    ["zero slots", here({ path: "/srv/csm", maxConcurrent: 0 }), /maxConcurrent .* a whole number from 1 to/],
    [
      "a voice without preset and clip",
      here({ path: "/srv/csm", voices: { "0": { file: "me.wav" } } }),
      /own\.voices .*, but it takes an object from speaker labels to \{"preset": NAME\} or/,
    ],
    ["a checkpoint without addresses", inside({ kind: "openai" }), /remote\.urls is missing in the file .*:/],
    ["an invalid address", remote({ urls: ["127.0.0.1:8880"] }), /\["127\.0\.0\.1:8880"\], but it takes a/],
    ["no address", remote({ urls: [] }), /remote\.urls .* is \[\], but it takes a list of addresses/],
    ["an unknown kind", remote({ kind: "grpc" }), /remote\.kind .* is "grpc", but it takes one of openai/],
    [
      "a variable of ours for a key",
      remote({ keyEnv: "ANTIPHON_KOKORO" }),
      /keyEnv .* takes the name of an environment variable that does not begin with ANTIPHON_/,
    ],
    [
      "a name with a space",
      file('{"models": {"my voice": {"checkpoint": "heart"}}}'),
      /setting models .* is "my voice", but it takes names of at most 64/,
    ],
    ["a model without a checkpoint", env("MODELS", '{"a": {}}'), /models\.a\.checkpoint is missing and/],
    ["models that are no JSON", env("MODELS", "kokoro"), /is "kokoro", but the setting models takes an/],
    ["an empty key", file('{"": {}}'), /"", which is not a setting/],
    ["__proto__", file('{"__proto__": {"port": 1}}'), /__proto__/],
    ["a key below a setting", file('{"port": {"port": 1}}'), /setting port/],
  ];
  for (const [what, sources, message] of refusals) {
    it(`refuses ${what}, with the remedy`, () => {
      const error = refusal(sources);
      assert.match(error.message, message);
      const source = "flags" in sources ? "flag" : "env" in sources ? "environment" : "file";
      assert.equal(error.source, source);
    });
  }

  it("reads exact whole numbers from a variable, or refuses it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer().map(String), fc.string()), (text) => {
        const inRange = /^-?\d+$/.test(text) && Number(text) >= 0 && Number(text) <= 65_535;
        if (inRange) assert.equal(loadSettings({ env: { ANTIPHON_PORT: text } }).port, Number(text));
        else refusal({ env: { ANTIPHON_PORT: text } });
      }),
    );
  });

  it("gives each setting its own variable and flag", () => {
    assert.equal(new Set(LEAVES.map((leaf) => leaf.variable)).size, LEAVES.length);
    assert.equal(new Set(LEAVES.map((leaf) => leaf.flag)).size, LEAVES.length);
    assert.ok(LEAVES.every((leaf) => leaf.schema.description));
  });
});
