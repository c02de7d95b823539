import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { builtTests, COSTLY, fastTests, lightTests, MAX_COST_S } from "./fast-tests.ts";
import { groupsOf } from "./groups.ts";
import { TOP } from "./top.ts";

const { scripts } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

test("npm run check leaves out what starts programs, runs a network or costs much, and that alone", () => {
  const fast = new Set(fastTests());
  const isFast = (name: string) => {
    const file = `dist/test/${name}.test.js`;
    assert.ok(builtTests().includes(file), `${file} is there`);
    return fast.has(file);
  };
  for (const slow of [
    "e2e/newcomer",
    "cli/keys",
    "server/writer/compose-writer",
    "writers/llama/gguf-writer",
    "engines/embedded/model",
    "audio/recordings/bombs",
  ]) {
    assert.equal(isFast(slow), false, slow);
  }
  for (const quick of ["audio/pcm", "api/http/access", "settings/load", "workers/batch-scheduler"]) {
    assert.equal(isFast(quick), true, quick);
  }
  assert.ok(fast.size > builtTests().length / 2, `${fast.size} of ${builtTests().length}`);
});

test("the tests that cost much are there, light otherwise, and each by itself over the budget", () => {
  const costly = JSON.parse(readFileSync(COSTLY, "utf8")) as Record<string, number>;
  const light = new Set(lightTests());
  for (const [test, costS] of Object.entries(costly)) {
    assert.ok(light.has(test), `${test} is no light test: run npm run costs`);
    assert.ok(costS >= MAX_COST_S, `${test} costs ${costS} s`);
  }
  assert.equal(fastTests().length, light.size - Object.keys(costly).length);
});

test("npm test and npm run check lint and build alike, and npm test runs every test that is built, once", () => {
  const prepare =
    "npm run --silent lint && npm run --silent build && node dist/test/architecture/run-tests.js ";
  assert.ok(scripts.test?.startsWith(`${prepare}all `));
  assert.ok(scripts.check?.startsWith(`${prepare}fast `));
});

test("every test is in one group, beside its neighbours, and none is in two", () => {
  const tests = builtTests();
  for (const limit of [1, 7, 16, tests.length, tests.length + 1]) {
    const groups = groupsOf(tests, limit);
    assert.deepEqual(groups.flat(), tests);
    assert.equal(groups.length, Math.ceil(tests.length / limit));
    assert.ok(groups.every(({ length }) => length > 0 && length <= limit));
  }
});

for (const page of ["README.md", "CONTRIBUTING.md"]) {
  test(`${page} names only commands that npm has`, () => {
    const named = [...readFileSync(join(TOP, page), "utf8").matchAll(/\bnpm (?:run )?([a-z]+)/g)].map(
      ([, name = ""]) => name,
    );
    const builtIn = ["ci", "install"];
    assert.deepEqual(
      named.filter((name) => !(name in scripts) && !builtIn.includes(name)),
      [],
    );
    for (const name of ["test", "check"]) assert.ok(named.includes(name), `it names npm's ${name}`);
  });
}
