// Installs onnxruntime-node without the five sixths of it that are for other platforms. Why npm does not install it:
// docs/decisions/0054-a-newcomers-minute.md.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createGunzip } from "node:zlib";

const NAME = "onnxruntime-node";
/** Checksum of npm's tarball of the version in our manifest. */
const SHA512 = "twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==";
const HERE = `${process.platform}/${process.arch}`;
const TOP = fileURLToPath(new URL("..", import.meta.url));
/** Not node_modules/onnxruntime-node: every npm install removes what its lock file lacks, unless the name has a dot. */
export const FOLDER = join(TOP, "node_modules/.antiphon/node_modules", NAME);
/** Where it is in the package that users install, and where earlier versions of this script put it. */
const PACKAGED = join(TOP, "node_modules", NAME);

/** Returns whether the version in our manifest is installed for this platform. */
export function isInstalled() {
  const manifest = join(existsSync(FOLDER) ? FOLDER : PACKAGED, "package.json");
  if (!existsSync(manifest)) return false;
  const { version, platforms = [HERE] } = read(manifest);
  return version === wanted() && platforms.includes(HERE);
}

/** Installs it for this platform if it is missing. @throws Error if npm cannot fetch it */
export async function install() {
  if (isInstalled()) return;
  const partial = `${FOLDER}.${process.pid}`;
  try {
    await unpack(partial, [HERE]);
    rmSync(FOLDER, { recursive: true, force: true });
    renameSync(partial, FOLDER);
  } catch (error) {
    // Another process may have installed it meanwhile.
    if (!isInstalled()) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Installs it after npm's own installation, which must not fail: the next build tries again. */
export async function installAfterNpm() {
  if (isInstalled()) return;
  process.stdout.write(`Installing ${NAME} ${wanted()} for ${HERE} …\n`);
  await install().catch(({ message }) => {
    const why = message.split("\n").slice(0, 2).join(": ");
    process.stdout.write(`It could not be fetched, and npm start will try again: ${why}\n`);
  });
}

/** Writes the package to a folder, with the libraries of some platforms, such as "linux/x64". */
export async function unpack(folder, platforms) {
  const cached = inCache();
  if (cached !== undefined) {
    try {
      return await unpackFrom(cached, folder, platforms);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      const digest = createHash("sha512");
      for await (const part of createReadStream(cached)) digest.update(part);
      if (digest.digest("base64") === SHA512) throw error;
      // npm's copy is damaged: without it, npm fetches another.
      rmSync(cached, { force: true });
    }
  }
  const fetched = await mkdtemp(join(tmpdir(), "antiphon-onnxruntime-"));
  try {
    await unpackFrom(await fetchInto(fetched), folder, platforms);
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

/** @throws Error if the tarball is damaged */
async function unpackFrom(tarball, folder, platforms) {
  const digest = createHash("sha512");
  const compressed = createReadStream(tarball, { highWaterMark: 1 << 20 }).on("data", (part) =>
    digest.update(part),
  );
  const unzipped = createGunzip({ chunkSize: 1 << 20 });
  compressed.on("error", (error) => unzipped.destroy(error));
  await writeFiles(compressed.pipe(unzipped), folder, (name) => {
    const platform = /^bin\/napi-v6\/(\w+\/\w+)\//.exec(name)?.[1];
    return platform === undefined ? !name.startsWith("script/") : platforms.includes(platform);
  });
  if (digest.digest("base64") !== SHA512)
    throw new Error(`the download of ${NAME} ${wanted()} is damaged: its checksum is wrong, so try again`);
  // The installer fetches a build for graphics cards from another host, and alone uses the two dependencies left out.
  const manifest = join(folder, "package.json");
  const { scripts: _, devDependencies: __, dependencies, ...rest } = read(manifest);
  const { "adm-zip": ___, "global-agent": ____, ...used } = dependencies;
  writeFileSync(manifest, `${JSON.stringify({ ...rest, dependencies: used, platforms }, null, 2)}\n`);
}

/** Writes the wanted files of a tar, without its first folder. */
export async function writeFiles(tar, folder, isWanted) {
  const BLOCK = 512;
  const FILE = "0".charCodeAt(0);
  let left = Buffer.alloc(0);
  let file = null;
  for await (const part of tar) {
    left = left.length === 0 ? part : Buffer.concat([left, part]);
    for (;;) {
      if (file === null) {
        if (left.length < BLOCK) break;
        const header = left.subarray(0, BLOCK);
        left = left.subarray(BLOCK);
        const name = text(header, 345, 155) + text(header, 0, 100);
        const size = Number.parseInt(text(header, 124, 12), 8) || 0;
        const inside = name.replace(/^[^/]*\//, "");
        const isFile = header[156] === FILE && inside !== "" && !inside.split("/").includes("..");
        file = {
          path: join(folder, inside),
          parts: isFile && isWanted(inside) ? [] : null,
          size,
          toCome: Math.ceil(size / BLOCK) * BLOCK,
        };
      }
      const taken = left.subarray(0, file.toCome);
      left = left.subarray(taken.length);
      file.toCome -= taken.length;
      file.parts?.push(taken);
      if (file.toCome > 0) break;
      if (file.parts !== null) {
        mkdirSync(dirname(file.path), { recursive: true });
        writeFileSync(file.path, Buffer.concat(file.parts).subarray(0, file.size));
      }
      file = null;
    }
  }
}

function text(header, start, length) {
  return header.toString("latin1", start, start + length).replace(/\0.*$/s, "");
}

/** Returns the path of the tarball in npm's cache; `undefined` if it is not there or the cache has another layout. */
function inCache() {
  const hex = Buffer.from(SHA512, "base64").toString("hex");
  const cache = process.env.npm_config_cache;
  if (cache === undefined) return undefined;
  const path = join(cache, "_cacache/content-v2/sha512", hex.slice(0, 2), hex.slice(2, 4), hex.slice(4));
  return existsSync(path) ? path : undefined;
}

/** Has npm fetch the tarball, with its registry and proxy, into its cache or else to a folder. Returns its path. */
async function fetchInto(folder) {
  if (process.env.npm_config_cache !== undefined) {
    await npm("cache", "add");
    const cached = inCache();
    if (cached !== undefined) return cached;
  }
  await npm("pack", "--pack-destination", folder);
  const [name] = readdirSync(folder);
  return join(folder, name);
}

function npm(...line) {
  const options = [`${NAME}@${wanted()}`, "--prefer-offline", "--loglevel=error"];
  return promisify(execFile)("npm", [...line, ...options], { cwd: TOP, shell: process.platform === "win32" });
}

function wanted() {
  return read(join(TOP, "package.json")).peerDependencies[NAME];
}

function read(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
