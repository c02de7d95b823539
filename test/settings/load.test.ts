import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { LEAVES } from "../../src/settings/leaves.ts";
import { loadSettings, type SettingSources } from "../../src/settings/load.ts";
import { type SettingSource, SettingsError } from "../../src/settings/settings-error.ts";
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
    ]) {
      assert.doesNotMatch(refusal(sources).message, /ann|guess/);
    }
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
      // No browser sends these: a scheme's own port is left out, and a name is written in ASCII.
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

  const refusals: readonly [what: string, sources: SettingSources, source: SettingSource, says: RegExp][] = [
    [
      "a misspelt variable",
      { env: { ANTIPHON_PROT: "1" } },
      "environment",
      /ANTIPHON_PROT .*did you mean ANTIPHON_PORT\?/,
    ],
    [
      "an unknown variable",
      { env: { ANTIPHON_SHOE_SIZE: "1" } },
      "environment",
      /ANTIPHON_SHOE_SIZE names no setting: unset it/,
    ],
    [
      "a port that is no number",
      { env: { ANTIPHON_PORT: "80a" } },
      "environment",
      /ANTIPHON_PORT is "80a".* whole number from 0 to 65535/,
    ],
    ["an empty variable", { env: { ANTIPHON_PORT: "" } }, "environment", /ANTIPHON_PORT is ""/],
    ["a number in scientific notation", { env: { ANTIPHON_PORT: "8e3" } }, "environment", /ANTIPHON_PORT/],
    ["a number with a space", { env: { ANTIPHON_PORT: " 80" } }, "environment", /ANTIPHON_PORT/],
    ["a hexadecimal number", { env: { ANTIPHON_PORT: "0x50" } }, "environment", /ANTIPHON_PORT/],
    ["a port above the range", { flags: { port: "65536" } }, "flag", /--port is "65536".* from 0 to 65535/],
    [
      "yes for true",
      { env: { ANTIPHON_PULL: "yes" } },
      "environment",
      /ANTIPHON_PULL is "yes".*true or false/,
    ],
    [
      "a proxy that is no address",
      { env: { ANTIPHON_TRUST_PROXY: "yes" } },
      "environment",
      /ANTIPHON_TRUST_PROXY/,
    ],
    ["an unknown level", { env: { ANTIPHON_LOG_LEVEL: "INFO" } }, "environment", /one of fatal, error, warn/],
    ["an unknown flag", { flags: { hosts: "x" } }, "flag", /"hosts" names no setting: did you mean host\?/],
    ["a boolean for a number", { flags: { port: true } }, "flag", /--port is true/],
    [
      "a file that is not there",
      { configFile: join(folder, "none.json") },
      "file",
      /none\.json cannot be read \(ENOENT\)/,
    ],
    ["a file that is no JSON", { configFile: fileHolding("{port: 1}") }, "file", /is not JSON/],
    [
      "a file that is no object",
      { configFile: fileHolding("[1]") },
      "file",
      /holds \[1\].*an object of settings/,
    ],
    [
      "a number as text in the file",
      { configFile: fileHolding('{"port": "80"}') },
      "file",
      /setting port .* is "80".*whole number/,
    ],
    [
      "a misspelt key in the file",
      { configFile: fileHolding('{"metrics": {"enabld": true}}') },
      "file",
      /"metrics\.enabld".*did you mean metrics\.enabled\?/,
    ],
    [
      "a group that is no object",
      { configFile: fileHolding('{"metrics": true}') },
      "file",
      /metrics .* is true.*an object with enabled, port, host/,
    ],
    [
      "a key with a dot",
      { configFile: fileHolding('{"metrics.port": 1}') },
      "file",
      /"metrics\.port", which is not a setting/,
    ],
    [
      "a misspelt key inside a checkpoint",
      inside({ ...KOKORO.remote, url: "http://127.0.0.1" }),
      "file",
      /"checkpoints\.kokoro\.remote\.url", which is not a setting: did you mean checkpoints\.kokoro\.remote\.urls\?/,
    ],
    [
      "a checkpoint that is here and elsewhere",
      { configFile: fileHolding(JSON.stringify({ checkpoints: { kokoro: { ...KOKORO, path: "/srv" } } })) },
      "file",
      /checkpoints\.kokoro\.path in the file .* is "\/srv", but it takes nothing where checkpoints\.kokoro\.remote is given/,
    ],
    [
      "bits that there are not",
      here({ path: "/srv/csm", precision: "int2" }),
      "file",
      /checkpoints\.own\.precision in the file .* is "int2", but it takes one of fp32, int8, int4/,
    ],
    [
      "no place at all",
      here({ path: "/srv/csm", maxConcurrent: 0 }),
      "file",
      /checkpoints\.own\.maxConcurrent in the file .* is 0, but it takes a whole number from 1 to 64/,
    ],
    [
      "a voice that is neither a name nor a recording",
      here({ path: "/srv/csm", voices: { "0": { file: "me.wav" } } }),
      "file",
      /checkpoints\.own\.voices in the file .*, but it takes an object from speaker labels to \{"preset": NAME\} or/,
    ],
    [
      "a checkpoint without what it needs",
      inside({ kind: "openai" }),
      "file",
      /setting checkpoints\.kokoro\.remote\.urls is missing in the file .*: give it a list of addresses that begin/,
    ],
    [
      "an address that is none",
      inside({ ...KOKORO.remote, urls: ["127.0.0.1:8880"] }),
      "file",
      /setting checkpoints\.kokoro\.remote\.urls in the file .* is \["127\.0\.0\.1:8880"\], but it takes a list of/,
    ],
    [
      "no address at all",
      inside({ ...KOKORO.remote, urls: [] }),
      "file",
      /kokoro\.remote\.urls in the file .* is \[\], but it takes a list of addresses/,
    ],
    [
      "a kind that there is not",
      inside({ ...KOKORO.remote, kind: "grpc" }),
      "file",
      /kokoro\.remote\.kind in the file .* is "grpc", but it takes one of openai, antiphon/,
    ],
    [
      "a variable of ours for a key",
      inside({ ...KOKORO.remote, keyEnv: "ANTIPHON_KOKORO" }),
      "file",
      /remote\.keyEnv .* takes the name of an environment variable that does not begin with ANTIPHON_/,
    ],
    [
      "a name with a space",
      { configFile: fileHolding('{"models": {"my voice": {"checkpoint": "heart"}}}') },
      "file",
      /setting models in the file .* is "my voice", but it takes names of at most 64/,
    ],
    [
      "a model without a checkpoint",
      { env: { ANTIPHON_MODELS: '{"a": {}}' } },
      "environment",
      /ANTIPHON_MODELS is .* but the setting models\.a\.checkpoint is missing and takes text/,
    ],
    [
      "models that are no JSON",
      { env: { ANTIPHON_MODELS: "kokoro" } },
      "environment",
      /ANTIPHON_MODELS is "kokoro", but the setting models takes an object of models/,
    ],
    ["an empty key", { configFile: fileHolding('{"": {}}') }, "file", /"", which is not a setting/],
    ["__proto__", { configFile: fileHolding('{"__proto__": {"port": 1}}') }, "file", /__proto__/],
    ["a key below a setting", { configFile: fileHolding('{"port": {"port": 1}}') }, "file", /setting port/],
  ];
  for (const [what, sources, source, says] of refusals) {
    it(`refuses ${what}, with the remedy`, () => {
      const error = refusal(sources);
      assert.match(error.message, says);
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
