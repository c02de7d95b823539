import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GroupCommit } from "../../src/accounts/group-commit.ts";

/** Work that the test ends, and that returns its items in capitals. */
function slowWork() {
  const groups: { readonly items: readonly string[]; end(): void; fail(error: Error): void }[] = [];
  const work = (items: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      groups.push({ items, end: () => resolve(items.map((item) => item.toUpperCase())), fail: reject });
    });
  return { groups, work };
}

describe("a grouped job", () => {
  it("runs at once when idle, then together for all that waited", async () => {
    const { groups, work } = slowWork();
    const grouped = new GroupCommit(work);
    const first = grouped.add("a");
    assert.deepEqual(groups[0]?.items, ["a"]);
    const later = ["b", "c", "d"].map((item) => grouped.add(item));
    assert.equal(groups.length, 1);
    groups[0]?.end();
    await first;
    assert.deepEqual(groups[1]?.items, ["b", "c", "d"]);
    groups[1]?.end();
    assert.deepEqual(await Promise.all(later), ["B", "C", "D"], "each gets its own");
    assert.equal(groups.length, 2);
  });

  it("resolves no caller before its group is done", async () => {
    const { groups, work } = slowWork();
    const grouped = new GroupCommit(work);
    let resolved = false;
    const commit = grouped.add("a").then(() => {
      resolved = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(resolved, false);
    groups[0]?.end();
    await commit;
    assert.equal(resolved, true);
  });

  it("rejects only the group that failed", async () => {
    const { groups, work } = slowWork();
    const grouped = new GroupCommit(work);
    const first = grouped.add("a");
    const second = [grouped.add("b"), grouped.add("c")];
    groups[0]?.end();
    await first;
    const third = grouped.add("d");
    groups[1]?.fail(new Error("the disk is full"));
    for (const commit of second) await assert.rejects(commit, /the disk is full/);
    await new Promise((resolve) => setImmediate(resolve));
    groups[2]?.end();
    await third;
  });

  it("settles once nothing waits", async () => {
    const { groups, work } = slowWork();
    const grouped = new GroupCommit(work);
    await grouped.settled();
    const order: string[] = [];
    const both = [grouped.add("a"), grouped.add("b")].map((commit, i) =>
      commit.then(() => order.push(`${i}`)),
    );
    const settled = grouped.settled().then(() => order.push("settled"));
    groups[0]?.end();
    await both[0];
    groups[1]?.end();
    await Promise.all([...both, settled]);
    assert.deepEqual(order, ["0", "1", "settled"]);
  });
});
