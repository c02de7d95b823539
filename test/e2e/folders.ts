import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const TOP = fileURLToPath(new URL("../../..", import.meta.url));

const folders = new Set<string>();

/** Returns a new folder that is removed when the process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-e2e-"));
  folders.add(folder);
  return folder;
}

process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
