import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { settingsDocument } from "../../src/settings/document.ts";

it("docs/settings.md says what the schema says", () => {
  const kept = readFileSync(new URL("../../../docs/settings.md", import.meta.url), "utf8");
  assert.equal(kept, settingsDocument());
});
