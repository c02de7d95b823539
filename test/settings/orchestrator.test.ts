import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadSettings } from "../../src/settings/load.ts";
import { SettingsError } from "../../src/settings/settings-error.ts";
import { SERVICE_LINKS } from "./service-links.ts";

function warningsWith(env: Readonly<Record<string, string>>): string[] {
  const warnings: string[] = [];
  const settings = loadSettings({ env, warn: (sentence) => warnings.push(sentence) });
  assert.deepEqual(settings, loadSettings(), "nothing is set by them");
  return warnings;
}

describe("a variable that is no setting", () => {
  it("may hold a key for clients", () => {
    assert.deepEqual(warningsWith({ ANTIPHON_KEY: "ant_1", ANTIPHON_DEBUG: "1" }), []);
  });

  for (const [variable, text] of Object.entries(SERVICE_LINKS)) {
    it(`may be an orchestrator's, as ${variable}=${text}`, () => {
      const [warning, ...more] = warningsWith({ [variable]: text });
      assert.ok(warning?.includes(` ${variable} `), warning);
      assert.deepEqual(more, []);
    });
  }

  it("is ignored with one warning that names all and shows no value", () => {
    const [warning, ...more] = warningsWith(SERVICE_LINKS);
    assert.deepEqual(more, []);
    assert.match(warning ?? "", /^[A-Z][^\n]*\.$/, "one plain sentence");
    for (const [variable, text] of Object.entries(SERVICE_LINKS)) {
      assert.ok(warning?.includes(variable), variable);
      assert.ok(!/[./]/.test(text) || !warning?.includes(text), text);
    }
  });

  it("is ignored without a warning callback", () => {
    assert.deepEqual(loadSettings({ env: SERVICE_LINKS }), loadSettings());
  });

  it("leaves its setting to the file, the flags and the defaults", () => {
    const env = { ANTIPHON_PORT: "tcp://10.0.0.1:8080", ANTIPHON_METRICS_PORT: "9100" };
    const { port, metrics } = loadSettings({ env, flags: { port: "81" } });
    assert.deepEqual([port, metrics.port], [81, 9100]);
  });

  const mistakes: readonly [variable: string, text: string][] = [
    ["ANTIPHON_PORT", "http://10.0.0.1:8080"],
    ["ANTIPHON_PORT", "tcp://antiphon:8080"],
    ["ANTIPHON_PORT", "tcp://10.0.0.1"],
    ["ANTIPHON_PORT", "tcp://10.0.0.1:80800"],
    ["ANTIPHON_PORT", "10.0.0.1:8080"],
    ["ANTIPHON_PORT", "abc"],
    ["ANTIPHON_METRICS_PORT", "udp:9090"],
    ["ANTIPHON_WORKERS", "tcp://10.0.0.1:8080"],
    ["ANTIPHON_SERVICE_HOST", "localhost"],
    ["ANTIPHON_SERVICE_PORT", "http"],
    ["ANTIPHON_SERVICE_PORT", ""],
    ["ANTIPHON_PORT_8080_TCP_PROTO", "http"],
    ["ANTIPHON_NAME", "antiphon"],
    ["ANTIPHON_ENV", "production"],
  ];
  for (const [variable, text] of mistakes) {
    it(`is refused if no orchestrator sets it, as ${variable}=${text}`, () => {
      assert.throws(
        () => loadSettings({ env: { ...SERVICE_LINKS, [variable]: text } }),
        (error) => error instanceof SettingsError && error.message.includes(variable),
      );
    });
  }
});
