import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressGroup } from "../../src/accounts/address-group.ts";
import { BucketTable } from "../../src/accounts/buckets.ts";
import { bucketsConformance } from "./buckets-conformance.ts";
import { lonelyWorld, memoryWorld } from "./buckets-worlds.ts";

bucketsConformance("in memory", memoryWorld);
bucketsConformance("guarded, without a server", lonelyWorld);

const terms = { rpm: 60, burst: 2 };

describe("a table of buckets", () => {
  it("keeps names apart", () => {
    const table = new BucketTable();
    table.take("a", terms, 0);
    table.take("a", terms, 0);
    assert.equal(table.take("a", terms, 0).allowed, false);
    assert.equal(table.take("b", terms, 0).remaining, 1);
  });

  it("stores nothing for a peek", () => {
    const table = new BucketTable();
    assert.equal(table.peek("a", terms, 0).remaining, 2);
    assert.equal(table.size, 0);
    assert.equal(table.take("a", terms, 0).remaining, 1);
    assert.equal(table.peek("a", terms, 0).remaining, 1);
  });

  it("evicts the least recently used name", () => {
    const table = new BucketTable(2);
    for (const name of ["a", "b", "a", "c"]) table.take(name, terms, 0);
    assert.equal(table.size, 2);
    assert.equal(table.peek("a", terms, 0).remaining, 0);
    assert.equal(table.peek("b", terms, 0).remaining, 2, "b was forgotten");
    assert.equal(table.peek("c", terms, 0).remaining, 1);
  });
});

describe("the address group", () => {
  const groups: readonly [address: string, group: string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::1:0:0:0:1", "2001:db8:0:1::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["1::", "1:0:0:0::/64"],
    ["::192.0.2.7", "0:0:0:0::/64"],
    ["", "unknown"],
    ["undefined", "unknown"],
    ["a.sock", "unknown"],
  ];
  for (const [address, group] of groups)
    it(`of ${JSON.stringify(address)} is ${group}`, () => assert.equal(addressGroup(address), group));
});

describe("the wider address group", () => {
  const groups: readonly [address: string, group: string][] = [
    ["192.0.2.7", "192.0.2.0/24"],
    ["::ffff:192.0.2.9", "192.0.2.0/24"],
    ["192.0.3.7", "192.0.3.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8:1:ffff::1", "2001:db8:1::/48"],
    ["2001:db8::1", "2001:db8:0::/48"],
    ["undefined", "unknown"],
  ];
  for (const [address, group] of groups)
    it(`of ${JSON.stringify(address)} is ${group}`, () => assert.equal(addressGroup(address, 3), group));
});
