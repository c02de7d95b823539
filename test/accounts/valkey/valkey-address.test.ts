import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { parseValkeyAddress } from "../../../src/accounts/valkey/valkey-address.ts";
import { asBucketsError } from "../../../src/accounts/valkey/valkey-errors.ts";
import { SettingsError } from "../../../src/settings/settings-error.ts";

describe("a Valkey address", () => {
  it("has host, port, TLS, user, password and database, mostly optional", () => {
    const plain = { host: "h", port: 6379, isTls: false, user: null, password: null, database: 0 };
    for (const [text, differs] of [
      ["redis://h", {}],
      ["valkey://h/", {}],
      ["rediss://h:7000/3", { port: 7000, isTls: true, database: 3 }],
      ["valkeys://h", { isTls: true }],
      ["redis://:p%40ss%2Fw@h", { password: "p@ss/w" }],
      ["redis://ann:secret@10.0.0.1:1", { host: "10.0.0.1", port: 1, user: "ann", password: "secret" }],
      ["redis://[fd00::1]:6380", { host: "fd00::1", port: 6380 }],
    ] as const)
      assert.deepEqual(parseValkeyAddress(text), { ...plain, ...differs }, text);
  });

  it("is refused with the problem, without quoting it", () => {
    for (const [text, says] of [
      ["", /not an address/],
      ["hunter2", /not an address/],
      ["redis://:hunter2@h:port", /not an address/],
      ["redis://:hun#ter2@h", /not an address/],
      ["https://:hunter2@h", /neither redis/],
      ["redis:///0", /no host/],
      ["redis://:hunter2@h/mine", /no number/],
      ["redis://:hunter2@h/1/2", /no number/],
      ["redis://:hunter2@h?family=6", /\? or #/],
      ["redis://hunter2@h", /user and no password/],
      ["redis://:hunter2%zz@h", /no escape/],
    ] as const) {
      assert.throws(
        () => parseValkeyAddress(text),
        (error) => {
          assert.ok(error instanceof SettingsError);
          assert.match(error.message, says);
          assert.match(error.message, /ANTIPHON_BUCKETS_URL.*buckets\.urlFile.*: write it as/);
          assert.doesNotMatch(inspect(error), /hunter2|ter2/);
          return true;
        },
        text,
      );
    }
  });
});

describe("a Valkey server's error", () => {
  const spoken = { place: "10.0.0.7:6379", password: "p@ss w" };

  it("is one sentence with the place and the remedy", () => {
    for (const [words, says, name = "Error"] of [
      ["connect ECONNREFUSED 10.0.0.7:6379", /cannot be reached .*see that their server runs/],
      ["WRONGPASS invalid username-password pair or user is disabled.", /password .*correct them in/],
      ["Ready check failed: NOAUTH Authentication required.", /password/],
      ["NOPERM this user has no permissions to run the 'evalsha' command", /allow it EVAL/],
      ["OOM command not allowed when used memory > 'maxmemory'.", /no memory left .*allkeys-lru/],
      ["READONLY You can't write against a read only replica.", /replica's .*primary/],
      ['Protocol error, got "H" as reply type byte. Please report this.', /no Valkey server's/],
      ["self-signed certificate", /not trusted .*NODE_EXTRA_CA_CERTS/],
      ["ERR unknown command 'EVALSHA'", /refuse \(ERR unknown command 'EVALSHA'\): allow or/, "ReplyError"],
    ] as const) {
      const { message } = asBucketsError(Object.assign(new Error(words), { name }), spoken);
      assert.match(message, /^The shared buckets at 10\.0\.0\.7:6379 [^\n]*\.$/);
      assert.match(message, says);
    }
  });

  it("holds no password, plain or escaped, and no line breaks", () => {
    const { message } = asBucketsError(new Error("ERR 'AUTH' 'p@ss w'\r\nat p%40ss%20w"), spoken);
    assert.ok(message.includes("ERR 'AUTH' '…' at …"), message);
    assert.ok(asBucketsError(new Error("x".repeat(10_000)), spoken).message.length < 500);
  });
});
