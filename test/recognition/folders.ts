import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

/** Makes a folder, removed after the file's tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-recogniser-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
