// Serves the packages in a folder as npm's registry would once they are published, and refers npm to the real registry for
// all others: `node .ci/registry.mjs FOLDER REGISTRY`. Prints its address.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [, , folder, registry] = process.argv;
const tarballs = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith(".tgz"))
    .map((name) => [`/${name}`, readFileSync(join(folder, name))]),
);

const server = createServer(({ url, headers }, response) => {
  const [path] = url.split("?");
  if (tarballs.has(path)) response.end(tarballs.get(path));
  else if (path === "/antiphon") response.end(JSON.stringify(packument(`http://${headers.host}`)));
  else response.writeHead(307, { location: new URL(url.slice(1), registry).href }).end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));

function packument(base) {
  const versions = [...tarballs].map(([path, bytes]) => {
    const tar = ["-xOzf", join(folder, path), "package/package.json"];
    const manifest = JSON.parse(spawnSync("tar", tar, { encoding: "utf8" }).stdout);
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    return [manifest.version, { ...manifest, dist: { tarball: `${base}${path}`, integrity } }];
  });
  const latest = versions.map(([version]) => version).find((version) => !version.includes("-"));
  return { name: "antiphon", "dist-tags": { latest }, versions: Object.fromEntries(versions) };
}
