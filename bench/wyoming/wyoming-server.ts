import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/free-port.ts";
import { makeKeys } from "../keys.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { oneClient } from "../load/service-speed.ts";

/** A warm server that speaks the Wyoming protocol there as well, with a key for it that no measurement exhausts. */
export interface WyomingServer extends ServerProcess {
  readonly wyoming: { readonly host: string; readonly port: number };
}

export async function startWyomingServer(): Promise<WyomingServer> {
  const wyoming = { host: "127.0.0.1", port: await freePort() };
  const folder = await mkdtemp(join(tmpdir(), "antiphon-bench-"));
  const [config, wyomingKeyFile] = [join(folder, "settings.json"), join(folder, "wyoming.key")];
  await writeFile(config, JSON.stringify({ wyomingKeyFile }));
  const server = await startServerProcess({
    flags: ["--wyoming", `${wyoming.host}:${wyoming.port}`, "--config", config],
    prepare: async (dataDir) => {
      const [key = ""] = await makeKeys(dataDir, 1);
      await writeFile(wyomingKeyFile, key, { mode: 0o600 });
    },
  });
  await oneClient(server, 10);
  return {
    ...server,
    wyoming,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
