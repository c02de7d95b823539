import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import {
  DEFAULT_RECOGNISER,
  findRecogniser,
  parseWriterManifest,
  type RecogniserOrigin,
  recogniserManifests,
} from "../../src/models/checkpoint-manifest.ts";
import { parseHubName } from "../../src/models/download/hub-name.ts";
import { KNOWN_WRITERS, knownWriterAt } from "../../src/models/known-hub-models.ts";
import { manifestOf } from "./download/fixture.ts";
import { manifestOf as recogniserOf } from "./download/tiny-recogniser.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-manifests-"));
after(() => rmSync(folder, { recursive: true }));

const TINY = manifestOf("https://example.org/tiny.gguf");
const [TINY_FILE] = TINY.files;
const ORIGIN: RecogniserOrigin = { kind: "hub", repository: "ann/tiny", files: ["tiny"] };

describe("the bundled manifests", () => {
  it('include the default recogniser by its name and by the alias "recogniser"', () => {
    const recogniser = findRecogniser("recogniser");
    assert.deepEqual([recogniser?.name, recogniser?.licence], [DEFAULT_RECOGNISER, "MIT"]);
    assert.deepEqual(
      recogniser?.origins.map(({ kind }) => kind),
      ["hub", "pip"],
    );
    assert.equal(findRecogniser("writer"), undefined);
  });
});

describe("the known hub models", () => {
  it("have unique names and paths, and more memory than file size", () => {
    const names = KNOWN_WRITERS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const { name, repository, path, sizeGb, memoryGb, known } of KNOWN_WRITERS) {
      assert.equal(knownWriterAt(repository.toUpperCase(), path)?.name, name);
      assert.deepEqual(parseHubName(`hf:${repository}:${path}`), { repository, file: path });
      assert.ok(memoryGb > sizeGb, name);
      if (known !== undefined) assert.equal(sizeGb, Math.round(known.sizeBytes / 1e8) / 10);
    }
  });
});

describe("a manifest", () => {
  it("round-trips through JSON", () => {
    assert.deepEqual(parseWriterManifest(JSON.stringify(TINY), "tiny.json"), TINY);
  });

  const withFile = (change: object) => ({ ...TINY, files: [{ ...TINY_FILE, ...change }] });
  const wrong: readonly [what: string, value: unknown, says: RegExp][] = [
    ["is an array", [], /the manifest tiny\.json is invalid: it must be object; correct it/],
    ["lacks its licence", { ...TINY, licence: undefined }, /licence/],
    ["has no files", { ...TINY, files: [] }, /files must not have fewer than 1 items/],
    ["has an unknown field", { ...TINY, sise: 1 }, /is invalid: sise is an unknown field; correct it/],
    ["has a name with ..", { ...TINY, name: "../tiny" }, /name must match pattern/],
    ["has a path with ..", withFile({ path: "a/../../b" }), /files\.0\.path must match pattern/],
    ["has a short checksum", withFile({ sha256: "abc" }), /files\.0\.sha256 must match pattern/],
    ["has no source", withFile({ sources: [] }), /files\.0\.sources must not have fewer/],
    [
      "has an http source",
      withFile({ sources: [{ kind: "https", url: "http://example.org" }] }),
      /files\.0\.sources\.0/,
    ],
  ];
  for (const [what, value, says] of wrong) {
    it(`is rejected if it ${what}`, () => {
      assert.throws(() => parseWriterManifest(JSON.stringify(value), "tiny.json"), says);
    });
  }

  it("is rejected by file name if it is not JSON", () => {
    assert.throws(
      () => parseWriterManifest("{", "tiny.json"),
      /the manifest tiny\.json is not JSON \(.*\): correct it/,
    );
  });

  it("is rejected if another manifest has its name or alias", () => {
    writeFileSync(join(folder, "a.json"), JSON.stringify(TINY));
    writeFileSync(join(folder, "b.json"), JSON.stringify({ ...TINY, name: "other", aliases: ["tiny"] }));
    assert.throws(() => recogniserManifests(folder), /two manifests in .* claim the name tiny: rename one/);
    writeFileSync(join(folder, "b.json"), JSON.stringify({ ...recogniserOf(ORIGIN), aliases: ["tiny"] }));
    assert.throws(() => recogniserManifests(folder), /two manifests in .* claim the name tiny: rename one/);
    writeFileSync(join(folder, "b.json"), JSON.stringify(recogniserOf()));
    assert.throws(() => recogniserManifests(folder), /b\.json is invalid: origins must not have fewer/);
  });
});
