import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { readTlsFiles } from "../../../src/server/http-options.ts";
import { type Certificate, makeCertificate } from "../../accounts/valkey/valkey-server.ts";
import { within } from "../../waiting.ts";
import { ScriptedDetector } from "../realtime/scripted-detector.ts";
import { startTestServer, type TestServer } from "./start.ts";

const skip = spawnSync("openssl", ["version"]).status !== 0 && "there is no openssl in the path";

describe("A server with a certificate", { skip }, () => {
  let folder: string;
  let files: Certificate;
  let server: TestServer;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "antiphon-tls-"));
    files = makeCertificate(folder);
    const flags = { "tls.certFile": files.certificate, "tls.keyFile": files.key };
    server = await startTestServer({ flags, detector: new ScriptedDetector() });
  });
  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  test("serves HTTPS and reports it in its URL", async () => {
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    const ca = readFileSync(files.certificate);
    const status = await new Promise((resolve, reject) => {
      get(`${server.url}/health`, { ca, agent: false }, (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode));
      }).once("error", reject);
    });
    assert.equal(status, 200);
  });

  test("serves realtime sessions over wss", async () => {
    const socket = new WebSocket(`${server.url.replace("https", "wss")}/v1/realtime`, {
      headers: { Authorization: `Bearer ${server.key}` },
      ca: readFileSync(files.certificate),
    });
    const first = await within(
      "the first event",
      new Promise<string>((resolve, reject) => {
        socket.once("message", (data) => resolve(`${data}`)).once("error", reject);
      }),
    );
    assert.equal(JSON.parse(first).type, "session.created");
    socket.terminate();
  });

  test("names the setting that is missing or unusable", () => {
    const { certificate: certFile, key: keyFile } = files;
    const odd = join(folder, "odd.pem");
    writeFileSync(odd, "no PEM");
    const said = (tls: { certFile?: string; keyFile?: string }) => {
      try {
        readTlsFiles({ tls });
      } catch (error) {
        return (error as Error).message;
      }
      return null;
    };
    assert.equal(said({}), null);
    assert.equal(said({ certFile, keyFile }), null);
    assert.match(said({ certFile })!, /^The setting tls\.keyFile is missing/);
    assert.match(said({ keyFile })!, /^The setting tls\.certFile is missing/);
    assert.match(said({ certFile: join(folder, "none"), keyFile })!, /^The setting tls\.certFile .*ENOENT/);
    assert.match(said({ certFile: odd, keyFile })!, /^The setting tls\.certFile .*cannot be used/);
    assert.match(said({ certFile, keyFile: odd })!, /^The setting tls\.keyFile .*cannot be used/);
  });
});
