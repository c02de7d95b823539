import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loadSettings, type SettingSources } from "../../src/settings/load.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-former-"));
after(() => rmSync(folder, { recursive: true }));

/** The settings of these sources, and what was warned of. */
function loaded(sources: SettingSources): { settings: ReturnType<typeof loadSettings>; warnings: string[] } {
  const warnings: string[] = [];
  return { settings: loadSettings({ ...sources, warn: (sentence) => warnings.push(sentence) }), warnings };
}

function fileHolding(tree: unknown): string {
  const path = join(folder, "settings.json");
  writeFileSync(path, JSON.stringify(tree));
  return path;
}

describe("settings of earlier releases", () => {
  it("that are gone are accepted from the file with a warning each, and change nothing", () => {
    const tree = {
      readings: "improved",
      writer: { tokenLimitField: "max_completion_tokens", maxTokens: 99 },
    };
    const { settings, warnings } = loaded({ configFile: fileHolding(tree) });
    assert.equal(settings.writer.maxTokens, 99);
    assert.ok(!("readings" in settings) && !("tokenLimitField" in settings.writer));
    assert.deepEqual(
      warnings.map(
        (sentence) => /^The setting (\S+) is no longer used, .*: remove it, .*\.$/.exec(sentence)?.[1],
      ),
      ["readings", "writer.tokenLimitField"],
    );
  });

  it("that are gone are accepted from the environment, too", () => {
    const env = { ANTIPHON_READINGS: "standard", ANTIPHON_WRITER_TOKEN_LIMIT_FIELD: "max_tokens" };
    const { warnings } = loaded({ env });
    assert.equal(warnings.length, 2);
  });

  it("that are called otherwise are read under their former name, unless the present one is given", () => {
    const checkpoints = {
      own: { path: "/srv/csm", places: 2 },
      two: { path: "/srv/b", places: 2, maxConcurrent: 3 },
    };
    for (const sources of [
      { configFile: fileHolding({ checkpoints }) },
      { env: { ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints) } },
    ]) {
      const { settings, warnings } = loaded(sources);
      const { own, two } = settings.checkpoints as Record<string, { maxConcurrent?: number }>;
      assert.deepEqual([own?.maxConcurrent, two?.maxConcurrent], [2, 3]);
      assert.ok(
        warnings.every((sentence) => sentence.includes("call it maxConcurrent")) && warnings.length === 2,
      );
    }
  });

  it("are only those: a checkpoint may be called as a former setting is, and others are refused as ever", () => {
    const { settings, warnings } = loaded({
      configFile: fileHolding({ checkpoints: { readings: { path: "/srv/csm" } } }),
    });
    assert.ok(Object.hasOwn(settings.checkpoints, "readings"));
    assert.deepEqual(warnings, []);
    assert.throws(
      () => loaded({ configFile: fileHolding({ writer: { readings: "standard" } }) }),
      /not a setting/,
    );
  });
});
