import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GroupCommit } from "../../src/tenancy/group-commit.ts";

/** A write that ends when the test says so. */
function slowWriter() {
  const groups: { readonly items: readonly string[]; end(): void; fail(error: Error): void }[] = [];
  const write = (items: readonly string[]) =>
    new Promise<void>((resolve, reject) => groups.push({ items, end: resolve, fail: reject }));
  return { groups, write };
}

describe("group commit", () => {
  it("writes at once when idle, and together what came meanwhile", async () => {
    const { groups, write } = slowWriter();
    const commits = new GroupCommit(write);
    const first = commits.commit("a");
    assert.deepEqual(groups[0]?.items, ["a"]);
    const later = ["b", "c", "d"].map((item) => commits.commit(item));
    assert.equal(groups.length, 1);
    groups[0]?.end();
    await first;
    assert.deepEqual(groups[1]?.items, ["b", "c", "d"]);
    groups[1]?.end();
    await Promise.all(later);
    assert.equal(groups.length, 2);
  });

  it("resolves nobody before the group is written", async () => {
    const { groups, write } = slowWriter();
    const commits = new GroupCommit(write);
    let resolved = false;
    const commit = commits.commit("a").then(() => {
      resolved = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(resolved, false);
    groups[0]?.end();
    await commit;
    assert.equal(resolved, true);
  });

  it("rejects the whole group that was not written, and only that one", async () => {
    const { groups, write } = slowWriter();
    const commits = new GroupCommit(write);
    const first = commits.commit("a");
    const second = [commits.commit("b"), commits.commit("c")];
    groups[0]?.end();
    await first;
    const third = commits.commit("d");
    groups[1]?.fail(new Error("the disk is full"));
    for (const commit of second) await assert.rejects(commit, /the disk is full/);
    await new Promise((resolve) => setImmediate(resolve));
    groups[2]?.end();
    await third;
  });

  it("is settled once nothing waits", async () => {
    const { groups, write } = slowWriter();
    const commits = new GroupCommit(write);
    await commits.settled();
    const order: string[] = [];
    const both = [commits.commit("a"), commits.commit("b")].map((commit, i) =>
      commit.then(() => order.push(`${i}`)),
    );
    const settled = commits.settled().then(() => order.push("settled"));
    groups[0]?.end();
    await both[0];
    groups[1]?.end();
    await Promise.all([...both, settled]);
    assert.deepEqual(order, ["0", "1", "settled"]);
  });
});
