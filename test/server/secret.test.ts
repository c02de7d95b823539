import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { readSecret, SecretError, twilioAuthTokens } from "../../src/server/secret.ts";
import { loadSettings } from "../../src/settings/load.ts";

const WRITER = { variable: "ANTIPHON_WRITER_API_KEY", setting: "writer.apiKeyFile" };
const folder = mkdtempSync(join(tmpdir(), "antiphon-api-key-"));
after(() => rmSync(folder, { recursive: true }));

test("a key comes from the environment, else from the file", () => {
  const file = holding("sk-file\n");
  assert.equal(readSecret({ ...WRITER, env: { ANTIPHON_WRITER_API_KEY: "sk-env" }, file }), "sk-env");
  assert.equal(readSecret({ ...WRITER, env: {}, file }), "sk-file");
  assert.equal(
    readSecret({ ...WRITER, env: { ANTIPHON_WRITER_API_KEY: "" }, file: holding("  sk-x\r\n\n") }),
    "sk-x",
  );
  assert.equal(readSecret({ ...WRITER, env: {} }), null);
});

test("a missing or invalid file is named, not quoted", () => {
  for (const [file, says] of [
    [join(folder, "none"), /does not exist/],
    [folder, /cannot be read: EISDIR/],
    [holding(""), /is empty/],
    [holding(" \n\n"), /is empty/],
    [holding("sk-a\nsk-b\n"), /line break/],
    [holding("Bearer sk-a"), /a space/],
    [holding("sk-\u0007a"), /cannot have/],
    [holding("sk-ключ"), /cannot have/],
    [holding("sk-".repeat(100_000)), /more than 4096/],
  ] as const) {
    assert.throws(
      () => readSecret({ ...WRITER, env: {}, file }),
      (error) => {
        assert.ok(error instanceof SecretError);
        assert.match(error.message, says);
        assert.ok(error.message.includes(file), error.message);
        assert.doesNotMatch(inspect(error), /sk-|ключ/);
        return true;
      },
    );
  }
  assert.throws(
    () => readSecret({ ...WRITER, env: { ANTIPHON_WRITER_API_KEY: "sk-a\nsk-b" } }),
    /^SecretError: ANTIPHON_WRITER/,
  );
});

test("the owner decides the variable and the message", () => {
  const ours = { variable: "ANTIPHON_RECOGNISER_API_KEY", setting: "recogniser.apiKeyFile" };
  const env = { ANTIPHON_WRITER_API_KEY: "sk-writer" };
  assert.equal(readSecret({ ...ours, env }), null);
  assert.throws(
    () => readSecret({ ...ours, env, file: join(folder, "none") }),
    /^SecretError: recogniser\.apiKeyFile \(.*\) does not exist/,
  );
  assert.throws(
    () => readSecret({ ...ours, env: { ANTIPHON_RECOGNISER_API_KEY: " " } }),
    /^SecretError: ANTIPHON_RECOGNISER_API_KEY is empty/,
  );
});

test("Twilio's auth tokens are separated by commas, none empty", () => {
  const settings = loadSettings({ env: { ANTIPHON_TWILIO_AUTH_TOKEN_FILE: holding("aa,bb\n") } });
  assert.deepEqual(twilioAuthTokens(settings, {}), ["aa", "bb"]);
  assert.deepEqual(twilioAuthTokens(settings, { ANTIPHON_TWILIO_AUTH_TOKEN: "cc" }), ["cc"]);
  assert.deepEqual(twilioAuthTokens(loadSettings(), {}), []);
  for (const token of [",", "aa,", ",aa", "aa,,bb"])
    assert.throws(
      () => twilioAuthTokens(settings, { ANTIPHON_TWILIO_AUTH_TOKEN: token }),
      /^SecretError: ANTIPHON_TWILIO_AUTH_TOKEN or twilio\.authTokenFile has an empty token next to a comma/,
    );
});

let files = 0;

function holding(text: string): string {
  const file = join(folder, `key-${++files}`);
  writeFileSync(file, text);
  return file;
}
