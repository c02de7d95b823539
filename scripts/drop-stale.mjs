// Removes what was built of sources that are gone: the compiler leaves it, and it would be run and packed.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

for (const folder of ["src", "test", "bench"]) {
  const built = join("dist", folder);
  if (!existsSync(built)) continue;
  for (const name of readdirSync(built, { recursive: true, encoding: "utf8" })) {
    const source = /^(.*)\.(?:js|js\.map|d\.c?ts)$/.exec(name)?.[1];
    if (source !== undefined && !existsSync(join(folder, `${source}.ts`))) rmSync(join(built, name));
  }
}
