import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { availableMemory } from "../../src/core/available-memory.ts";
import { temporaryFolder } from "../e2e/folders.ts";

describe("available memory", () => {
  const MEMINFO = "MemTotal: 8000000 kB\nMemFree: 1000 kB\nMemAvailable:    4000000 kB\n";
  const MACHINE = 4_000_000 * 1_024;

  async function rootOf(files: Readonly<Record<string, string>>): Promise<string> {
    const root = temporaryFolder();
    for (const [path, text] of Object.entries({ "proc/meminfo": MEMINFO, ...files })) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return root;
  }

  const cases: readonly [what: string, files: Readonly<Record<string, string>>, bytes: number, by: string][] =
    [
      ["what the kernel can free", {}, MACHINE, "machine"],
      [
        "what the control group has left, its file cache taken for free",
        {
          "proc/self/cgroup": "0::/a/b\n",
          "sys/fs/cgroup/a/b/memory.max": "1000000000\n",
          "sys/fs/cgroup/a/b/memory.current": "900000000\n",
          "sys/fs/cgroup/a/b/memory.stat": "anon 5\nactive_file 7\ninactive_file 300000000\n",
        },
        400_000_000,
        "container",
      ],
      [
        "what the group above it has left, where that is less",
        {
          "proc/self/cgroup": "0::/a/b\n",
          "sys/fs/cgroup/a/b/memory.max": "max\n",
          "sys/fs/cgroup/a/b/memory.current": "9\n",
          "sys/fs/cgroup/a/memory.max": "500\n",
          "sys/fs/cgroup/a/memory.current": "200\n",
        },
        300,
        "container",
      ],
      [
        "within a container, whose own path is not there",
        {
          "proc/self/cgroup": "0::/../../x\n",
          "sys/fs/cgroup/memory.max": "500\n",
          "sys/fs/cgroup/memory.current": "600\n",
        },
        0,
        "container",
      ],
      [
        "the same by the first generation",
        {
          "proc/self/cgroup": "9:name=systemd:/\n4:memory,x:/box\n",
          "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "2000\n",
          "sys/fs/cgroup/memory/box/memory.usage_in_bytes": "1500\n",
          "sys/fs/cgroup/memory/box/memory.stat": "inactive_file 1\ntotal_inactive_file 100\n",
          "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
          "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
        },
        600,
        "container",
      ],
    ];
  for (const [what, files, bytes, limitedBy] of cases) {
    test(`is ${what}`, async () => {
      assert.deepEqual(await availableMemory(await rootOf(files)), { bytes, limitedBy });
    });
  }

  test("is the free memory if the system has no such files", async () => {
    const { bytes, limitedBy } = await availableMemory(temporaryFolder());
    assert.ok(bytes > 0);
    assert.equal(limitedBy, "machine");
    assert.ok((await availableMemory()).bytes > 0);
  });
});
