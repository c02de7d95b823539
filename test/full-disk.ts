import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

/** Has a path opened as a device on which every write finds no space, for as long as `work` takes. */
export async function withFullDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  const { open } = fsp;
  fsp.open = (opened, ...rest) => open(opened === path ? "/dev/full" : opened, ...rest);
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    fsp.open = open;
    syncBuiltinESMExports();
  }
}
