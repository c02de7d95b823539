import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

/** Returns a new folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-tenancy-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
