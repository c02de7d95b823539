import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { wyomingPlace } from "../../src/server/compose-wyoming.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { temporaryFolder } from "../e2e/folders.ts";

const place = (flags: Record<string, string>, env: Record<string, string> = {}) =>
  wyomingPlace(loadSettings({ flags }), env);

describe("the Wyoming bridge", () => {
  test("is off by default", () => {
    assert.equal(place({}, { ANTIPHON_WYOMING_KEY: "ant_a" }), null);
  });

  test("has an address and port, and a key from the environment or a file", () => {
    const wyomingKeyFile = join(temporaryFolder(), "key");
    writeFileSync(wyomingKeyFile, "ant_file\n");
    const wyoming = "127.0.0.1:10200";
    assert.deepEqual(place({ wyoming, wyomingKeyFile }), {
      host: "127.0.0.1",
      port: 10_200,
      apiKey: "ant_file",
    });
    const env = { ANTIPHON_WYOMING_KEY: "ant_env" };
    assert.equal(place({ wyoming, wyomingKeyFile }, env)?.apiKey, "ant_env");
    assert.deepEqual(place({ wyoming: "[::1]:0" }, env), { host: "::1", port: 0, apiKey: "ant_env" });
    assert.equal(place({ wyoming: "tts.home:1" }, env)?.host, "tts.home");
  });

  test("is refused without a key, with the remedy", () => {
    assert.throws(() => place({ wyoming: "127.0.0.1:10200" }), {
      name: "SettingsError",
      message: /no API key.*antiphon keys create --label wyoming.*wyomingKeyFile.*ANTIPHON_WYOMING_KEY/,
    });
  });

  test("is refused with an invalid address", () => {
    for (const wyoming of ["10200", "localhost", "::1:10200", "tcp://127.0.0.1:10200", "a:b"]) {
      assert.throws(() => loadSettings({ flags: { wyoming } }), {
        message: /--wyoming .* takes an address and a port, as in 127.0.0.1:10200/,
      });
    }
    assert.throws(() => place({ wyoming: "localhost:65536" }, { ANTIPHON_WYOMING_KEY: "ant_a" }), {
      message: /a port is at most 65535/,
    });
  });
});
