import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout that these compiled tests belong to. */
export const TOP = fileURLToPath(new URL("../../..", import.meta.url));

const folders = new Set<string>();

/** A new folder that is removed when this test process ends, however it ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-e2e-"));
  folders.add(folder);
  return folder;
}

process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
