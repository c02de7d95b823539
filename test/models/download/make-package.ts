import { createHash } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../../e2e/folders.ts";

/** Returns a tar archive as npm packs it. */
export function tarOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const blocks = Object.entries(files).flatMap(([path, bytes]) => [
    header(`package/${path}`, bytes.length),
    bytes,
    Buffer.alloc((512 - (bytes.length % 512)) % 512),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
}

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0);
  block.write("000644 \0", 100);
  block.write(`${size.toString(8).padStart(11, "0")} `, 124);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\0", 257);
  block.write("00", 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

export interface FakePackage {
  readonly archive: Buffer;
  readonly integrity: string;
}

export function packageOf(files: Readonly<Record<string, Buffer>>): FakePackage {
  const archive = gzipSync(tarOf(files));
  return { archive, integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}` };
}

/** An `npm` that serves these packages by name and version and logs its requests in `asked`. */
export function fakeNpm(packages: Readonly<Record<string, Buffer>>): {
  env: NodeJS.ProcessEnv;
  asked: string;
} {
  const folder = temporaryFolder();
  const asked = join(folder, "asked");
  writeFileSync(asked, "");
  for (const [name, archive] of Object.entries(packages)) writeFileSync(join(folder, `${name}.tgz`), archive);
  const npm = join(folder, "npm");
  writeFileSync(
    npm,
    `#!/bin/sh
echo "$2" >> ${asked}
if [ -f "${folder}/$2.tgz" ]; then cp "${folder}/$2.tgz" "$4/package.tgz"; else
  echo "npm error code E404" >&2
  exit 1
fi
`,
  );
  chmodSync(npm, 0o755);
  return { env: { PATH: `${folder}:${process.env.PATH}` }, asked };
}
