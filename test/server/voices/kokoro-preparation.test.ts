import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, watch } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { measureRemaining } from "../../../src/server/voices/kokoro-preparation.ts";
import { TINY_VOICES, tinyFolder } from "../../engines/kokoro/tiny-kokoro.ts";

const MEMORY = { bytes: 2 ** 40, limitedBy: "machine" } as const;
const fileOf = (folder: string, id: string) => join(folder, "statistics", `${id}.safetensors`);

describe("the measurement of Kokoro's voices", () => {
  test("measures all that are unmeasured while idle", async () => {
    const folder = await tinyFolder();
    mkdirSync(join(folder, "statistics"), { recursive: true });
    const seen = watch(join(folder, "statistics"));
    const end = measureRemaining({ folder, isIdle: () => true, available: async () => MEMORY, lookMs: 1 });
    while (!TINY_VOICES.every((id) => existsSync(fileOf(folder, id)))) await once(seen, "change");
    seen.close();
    await end();
  });

  for (const [why, isIdle, bytes] of [
    ["a client is being served", false, 2 ** 40],
    ["memory is short", true, 2 ** 20],
  ] as const) {
    test(`waits while ${why}, and ends on request`, async () => {
      const folder = await tinyFolder();
      let asked = (): void => {};
      const twice = new Promise<void>((resolve) => {
        let times = 0;
        asked = () => {
          times += 1;
          if (times === 2) resolve();
        };
      });
      const end = measureRemaining({
        folder,
        isIdle() {
          asked();
          return isIdle;
        },
        available: async () => ({ ...MEMORY, bytes }),
        lookMs: 1,
      });
      await twice;
      await end();
      assert.ok(TINY_VOICES.every((id) => !existsSync(fileOf(folder, id))));
    });
  }
});
