import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { storeAddress } from "../../../src/accounts/postgres/store-address.ts";
import { temporaryFolder } from "../folders.ts";

const PLAIN = { host: "db.example", port: 5432, database: "antiphon" };

describe("a database address", () => {
  it("has user, password, host, port and database, unescaped", () => {
    const { client, place } = storeAddress("postgres://ann:p%40ss%2Fw%C3%B6rd@db.example:6432/my%20data");
    const { user, password, host, port, database } = client;
    assert.deepEqual(
      [user, password, host, port, database],
      ["ann", "p@ss/wörd", "db.example", 6432, "my data"],
    );
    assert.equal(place, "the database my data on db.example:6432");
  });

  it("may omit user, password and port", () => {
    const { client } = storeAddress("postgresql://db.example/antiphon");
    assert.deepEqual({ host: client.host, port: client.port, database: client.database }, PLAIN);
    assert.deepEqual([client.user, client.password, client.ssl], [undefined, undefined, false]);
  });

  it("may name an IPv6 address or a socket folder", () => {
    const six = storeAddress("postgres://[::1]:5433/antiphon");
    assert.deepEqual([six.client.host, six.place], ["::1", "the database antiphon on [::1]:5433"]);
    for (const text of [
      "postgres:///antiphon?host=/run/postgresql",
      "postgres://ann@/antiphon?host=/run/postgresql",
      "postgres://ann@%2Frun%2Fpostgresql/antiphon",
    ]) {
      const { client, place } = storeAddress(text);
      assert.deepEqual([client.host, place], ["/run/postgresql", "the database antiphon in /run/postgresql"]);
    }
  });

  it("verifies TLS if it asks for TLS, unless it says otherwise", () => {
    const tlsOf = (query: string) => storeAddress(`postgres://db.example/antiphon${query}`).client.ssl;
    for (const mode of ["require", "verify-ca", "verify-full"])
      assert.deepEqual(tlsOf(`?sslmode=${mode}`), { rejectUnauthorized: true }, mode);
    assert.deepEqual(tlsOf("?sslmode=no-verify"), { rejectUnauthorized: false });
    assert.equal(tlsOf("?sslmode=disable"), false);
    const authority = join(temporaryFolder(), "ca.pem");
    writeFileSync(authority, "the authority");
    assert.deepEqual(tlsOf(`?sslrootcert=${authority}`), { ca: "the authority", rejectUnauthorized: true });
  });

  it("is refused with the problem and the remedy, without secrets", () => {
    const cases: [text: string, says: RegExp][] = [
      ["mysql://ann:guess@db.example/x", /is not a PostgreSQL address: write postgres:\/\/USER/],
      ["host=db.example password=guess", /is not a PostgreSQL address/],
      ["postgres://ann:guess@db.example", /names no database/],
      ["postgres://ann:guess@/x", /names no host/],
      ["postgres:///x", /names no host/],
      ["postgres://ann:/guess@db.example/x", /has an @ after its host/],
      ["postgres://ann:47/guess@db.example/x", /has an @ after its host.*percent-encoded/],
      ["postgres://ann:?guess@db.example/x", /has an @ after its host/],
      ["postgres://ann:47#guess@db.example/x", /has an @ after its host/],
      ["postgres://ann:guess@one,two/x", /names several hosts: put HAProxy or pgbouncer/],
      ["postgres://ann:guess@one:1,two:2/x", /names several hosts/],
      ["postgres:///x?host=one,two", /names several hosts/],
      ["postgres://ann:gu%zzess@db.example/x", /cannot be read/],
      ["postgres://ann:guess@db.example:port/x", /cannot be read/],
      ["postgres://db.example/x?sslmode=prefer", /sslmode of "prefer": it is one of disable, require/],
      [
        "postgres://db.example/x?statement_timeout=5",
        /the parameter "statement_timeout": leave it out, known are host/,
      ],
      [
        "postgres://db.example/x?sslkey=/nowhere/key",
        /\/nowhere\/key as sslkey, which cannot be read \(ENOENT\)/,
      ],
    ];
    for (const [text, says] of cases) {
      assert.throws(
        () => storeAddress(text),
        (error: Error) => {
          assert.equal(error.name, "SettingsError");
          assert.match(error.message, says);
          assert.match(error.message, /^The address of the database \(ANTIPHON_STORE_URL, .*\.$/);
          assert.doesNotMatch(inspect(error), /guess|ess@/);
          return true;
        },
        text,
      );
    }
  });
});
