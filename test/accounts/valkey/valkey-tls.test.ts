import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../folders.ts";
import {
  type Certificate,
  makeCertificate,
  needsValkeyAndOpenssl,
  startValkey,
  type ValkeyServer,
} from "./valkey-server.ts";

const PROGRAM = fileURLToPath(new URL("take-once.js", import.meta.url));

async function takenOnce(url: string, env: NodeJS.ProcessEnv = {}) {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, url], {
    env: { PATH: process.env.PATH, ...env },
  });
  return JSON.parse(stdout) as { readonly remaining: number; readonly messages: readonly string[] };
}

describe("buckets on a Valkey server with TLS", needsValkeyAndOpenssl(), () => {
  const folder = temporaryFolder();
  let tls: Certificate;
  let server: ValkeyServer;
  before(async () => {
    tls = makeCertificate(folder);
    server = await startValkey({ tls });
  });
  after(() => server.stop());

  it("are shared if its certificate is trusted, by address or by name", async () => {
    const trusting = { NODE_EXTRA_CA_CERTS: tls.certificate };
    assert.deepEqual(await takenOnce(server.url, trusting), { remaining: 9, messages: [] });
    const byName = server.url.replace("127.0.0.1", "localhost").replace("redis", "valkey");
    assert.deepEqual(await takenOnce(byName, trusting), { remaining: 8, messages: [] });
  });

  it("are refused otherwise, with the remedy", async () => {
    const { remaining, messages } = await takenOnce(server.url);
    assert.equal(remaining, 9);
    assert.match(`${messages}`, /certificate that is not trusted .*NODE_EXTRA_CA_CERTS.*alone/);
  });

  it("are not shared without TLS", async () => {
    const { messages } = await takenOnce(server.url.replace("rediss", "redis"));
    assert.match(`${messages}`, /127\.0\.0\.1.*alone/);
  });
});
