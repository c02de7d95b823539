import { Socket } from "node:net";
import { openTenancy } from "../../src/accounts/open.ts";
import { StoreError } from "../../src/accounts/store.ts";
import type { Tenancy } from "../../src/accounts/tenancy.ts";
import { loadSettings } from "../../src/settings/load.ts";

/**
 * Commits usage as fast as possible: `committer.js DATA_DIR COUNT`, 0 for no end. Prints `key ID`, then `ack EVENT`
 * per acknowledged commit. After a refusal it prints `refused PROBLEM MESSAGE`, then `total N`, and ends. It is
 * killed when standard input ends, which is when its parent is gone.
 */
const [dataDir = "", count = "0"] = process.argv.slice(2);
const last = Number(count) || Number.POSITIVE_INFINITY;

// Exiting would wait for the database thread.
process.stdin.once("close", () => process.kill(process.pid, "SIGKILL")).resume();
if (process.stdin instanceof Socket) process.stdin.unref();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refused(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
  say(`refused ${error.problem} ${error.message}`);
}

async function commitAll(tenancy: Tenancy): Promise<void> {
  const { record } = await tenancy.createKey({ label: "committer", rpm: 60, burst: 60 });
  const { keyId } = record;
  say(`key ${keyId}`);
  let next = 0;
  let stopped = false;
  const worker = async () => {
    while (!stopped && next < last) {
      const eventId = `${keyId}-${next++}`;
      try {
        await tenancy.commit({
          eventId,
          keyId,
          inputChars: 7,
          inputAudioS: 0.5,
          outputAudioS: 0.08,
          tsS: next,
        });
        say(`ack ${eventId}`);
      } catch (error) {
        if (!stopped) refused(error);
        stopped = true;
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  say(`total ${(await tenancy.usage(keyId)).requests}`);
}

try {
  const tenancy = await openTenancy(loadSettings({ flags: { dataDir } }));
  await commitAll(tenancy).finally(() => tenancy.close());
} catch (error) {
  refused(error);
}
