import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { launch } from "../children.ts";
import { installedClone } from "./clone.ts";
import { finished, newcomersEnvironment } from "./program.ts";

describe("the build of `npm start`", () => {
  let clone: string;
  before(() => {
    clone = installedClone();
  });

  const node = (...line: readonly string[]) =>
    finished(launch(process.execPath, line, { cwd: clone, env: newcomersEnvironment() }));
  const build = async () => {
    const { code, stderr } = await node("scripts/build.mjs", "src");
    assert.equal(code, 0, stderr);
    return /Building (\d+) files? … done/.exec(stderr)?.[1] ?? "nothing";
  };

  it("compiles all once, then what changed, and removes what is gone", async () => {
    assert.match(await build(), /^\d{3,}$/);
    assert.equal(await build(), "nothing");
    assert.ok(existsSync(join(clone, "dist/voices/heart.tables")));

    const source = join(clone, "src/audio/wav.ts");
    appendFileSync(source, 'export const wrong: number = "no number";\n');
    assert.equal(await build(), "1", "types are for the check");
    assert.match(readFileSync(join(clone, "dist/src/audio/wav.js"), "utf8"), /no number/);
    utimesSync(source, 1_000_000_000, 1_000_000_000);
    assert.equal(await build(), "1", "an older version came back");

    const another = join(clone, "src/audio/another.ts");
    writeFileSync(another, "export {};\n");
    assert.equal(await build(), "1");
    rmSync(another);
    assert.equal(await build(), "nothing");
    assert.deepEqual(
      ["js", "js.map"].filter((ending) => existsSync(join(clone, `dist/src/audio/another.${ending}`))),
      [],
    );
  });

  it("names the required Node in its first line", async () => {
    await build();
    const manifest = join(clone, "package.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"node": ">=[\d.]+"/, '"node": ">=99.1"'));
    for (const line of [
      ["scripts/build.mjs", "src"],
      ["dist/src/cli/main.js", "serve"],
    ]) {
      const { code, stdout, stderr } = await node(...line);
      assert.equal(code, 1);
      assert.equal(stdout, "");
      assert.equal(stderr, `Antiphon needs Node 99.1 or newer; this is Node ${process.versions.node}.\n`);
    }
  });

  it("reports that nothing is installed", async () => {
    const bare = installedClone();
    rmSync(join(bare, "node_modules"));
    const build = launch(process.execPath, ["scripts/build.mjs"], { cwd: bare, env: newcomersEnvironment() });
    const { code, stderr } = await finished(build);
    assert.equal(code, 1);
    assert.match(stderr, /^Nothing is installed yet: run npm ci first \(with Node 20\.19 or newer\)\.\n$/);
  });
});
