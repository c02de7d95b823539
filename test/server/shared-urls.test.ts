import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { storeKind } from "../../src/accounts/open.ts";
import { neededUrl, SHARED_STORE } from "../../src/accounts/shared-address.ts";
import { storeUrl } from "../../src/server/secret.ts";
import { loadSettings } from "../../src/settings/load.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-store-url-"));
after(() => rmSync(folder, { recursive: true }));

const URL = "postgres://ann:guess@db.example/antiphon";

function chosen(env: Record<string, string>, file: object = {}): [kind: string, url: string | null] {
  const configFile = join(folder, "settings.json");
  writeFileSync(configFile, JSON.stringify(file));
  const settings = loadSettings({ env, configFile });
  const url = storeUrl(settings, env);
  return [storeKind(settings, url), url];
}

describe("the store of keys and usage", () => {
  it("is the data directory by default", () => {
    assert.deepEqual(chosen({}), ["libsql", null]);
  });

  it("is the database of the address, from the environment before the file", () => {
    writeFileSync(join(folder, "url"), `${URL}\n`);
    assert.deepEqual(chosen({ ANTIPHON_STORE_URL: URL }), ["postgres", URL]);
    assert.deepEqual(chosen({ ANTIPHON_STORE_URL_FILE: join(folder, "url") }), ["postgres", URL]);
    assert.deepEqual(chosen({}, { store: { urlFile: "url" } }), ["postgres", URL]);
    const other = "postgres://other.example/antiphon";
    assert.deepEqual(chosen({ ANTIPHON_STORE_URL: other }, { store: { urlFile: "url" } }), [
      "postgres",
      other,
    ]);
    assert.deepEqual(chosen({ ANTIPHON_STORE_URL: "" }), ["libsql", null], "an empty variable gives none");
  });

  it("is what the settings say, whatever the address", () => {
    const libsql = { ANTIPHON_STORE_KIND: "libsql" };
    assert.deepEqual(chosen({ ...libsql, ANTIPHON_STORE_URL: URL }), ["libsql", null]);
    assert.deepEqual(chosen({ ...libsql, ANTIPHON_STORE_URL_FILE: join(folder, "none") }), ["libsql", null]);
    assert.deepEqual(chosen({ ANTIPHON_STORE_KIND: "postgres" }), ["postgres", null]);
    assert.throws(() => neededUrl(null, SHARED_STORE), /ANTIPHON_STORE_URL, or name a file .* store/);
  });

  it("is refused without a word of it for an invalid file", () => {
    writeFileSync(join(folder, "two"), `${URL}\n${URL}\n`);
    for (const [name, says] of [
      ["none", /^store\.urlFile \(.*none\) does not exist$/],
      ["two", /^store\.urlFile \(.*two\) holds a line break, .* the address of the database alone$/],
    ] as const) {
      assert.throws(
        () => chosen({ ANTIPHON_STORE_URL_FILE: join(folder, name) }),
        (error: Error) => says.test(error.message) && !error.message.includes("guess"),
      );
    }
  });

  it("takes only a plain schema name", () => {
    for (const schema of ["Antiphon", 'a"b', "a.b", "", "1a", "a".repeat(64)])
      assert.throws(() => chosen({}, { store: { schema } }), /store\.schema .* small letters/, schema);
    assert.doesNotThrow(() => chosen({}, { store: { schema: "_speech_2" } }));
  });
});
