import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync } from "node:fs";
import { describe, it } from "node:test";
import type { StoreError } from "../../../src/accounts/store.ts";
import { makeCertificate } from "../valkey/valkey-server.ts";
import { folderOfItsUser, ITS_USER, needsPostgres, query, startPostgres } from "./postgres-server.ts";
import { openPostgres, withStores } from "./postgres-stores.ts";

const NO_OPENSSL =
  spawnSync("openssl", ["version"]).status === 0 ? null : "openssl is not installed: apt-get install openssl";

describe("a PostgreSQL connection with TLS", needsPostgres(NO_OPENSSL), async () => {
  const { certificate, key } = makeCertificate(folderOfItsUser());
  chmodSync(key, 0o600);
  if (ITS_USER.uid !== undefined)
    for (const file of [key, certificate]) chownSync(file, ITS_USER.uid, ITS_USER.gid);
  const server = await startPostgres({
    settings: { ssl: "on", ssl_cert_file: certificate, ssl_key_file: key },
  });
  const isEncrypted = async (url: string) => {
    const of = "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'antiphon'";
    return (await query<{ ssl: boolean }>(url, `SELECT ssl ${of}`)).map(({ ssl }) => ssl);
  };

  it("is encrypted and verified in every mode that asks for it", async () => {
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      const url = await server.url();
      for (const named of [url, url.replace("127.0.0.1", "localhost")]) {
        await withStores(
          [openPostgres(`${named}?sslmode=${mode}&sslrootcert=${certificate}`)],
          async (store) => {
            assert.deepEqual(await store!.listKeys(), []);
            assert.deepEqual(await isEncrypted(url), [true]);
          },
        );
      }
    }
  });

  it("fails for an untrusted authority or another host, and sends nothing", async () => {
    const url = await server.url();
    const isUntrusted = (error: StoreError) => {
      assert.equal(error.problem, "unwritable");
      return /cannot be trusted over TLS \(.*\): name its authority with sslrootcert/.test(error.message);
    };
    await assert.rejects(openPostgres(`${url}?sslmode=require`), isUntrusted);
    const another = url.replace("127.0.0.1", "127.0.0.2");
    await assert.rejects(openPostgres(`${another}?sslmode=require&sslrootcert=${certificate}`), isUntrusted);
  });

  it("is unverified or plain if the address says so", async () => {
    const url = await server.url();
    for (const [asked, expected] of [
      ["?sslmode=no-verify", true],
      ["?sslmode=disable", false],
      ["", false],
    ] as const) {
      await withStores([openPostgres(url + asked)], async (store) => {
        assert.deepEqual(await store!.listKeys(), []);
        assert.deepEqual(await isEncrypted(url), [expected], asked);
      });
    }
  });
});
