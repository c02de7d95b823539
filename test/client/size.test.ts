import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { TOP } from "../architecture/top.ts";

/** What a page may have to load of each, in bytes, minified and compressed. */
const BUDGETS = {
  "client/antiphon": 3_200,
  "client/player": 3 * 1_024,
  "client/realtime": 4 * 1_024,
  "core/captions/captions": 2 * 1_024,
};

for (const [name, budget] of Object.entries(BUDGETS)) {
  test(`${name} and all that it loads is at most ${budget} bytes, and needs nothing but itself`, () => {
    const { outputFiles } = buildSync({
      entryPoints: [join(TOP, `dist/src/${name}.js`)],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      write: false,
    });
    const size = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
    assert.ok(size <= budget, `${size} bytes`);
    assert.doesNotMatch(outputFiles[0]!.text, /\bBuffer\b|\bimport\b|\brequire\b/);
  });
}
