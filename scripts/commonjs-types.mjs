// The library's types for programs in CommonJS: the same declarations, by the names that a compiler looks for there.
import { readFileSync, writeFileSync } from "node:fs";

for (const name of ["antiphon", "types"]) {
  const types = readFileSync(`dist/src/library/${name}.d.ts`, "utf8");
  writeFileSync(`dist/src/library/${name}.d.cts`, types.replaceAll('"./types.ts"', '"./types.cjs"'));
}
