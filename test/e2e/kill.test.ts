import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { within } from "../waiting.ts";
import { type Client, clientOf, type UsageSummary } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { makeKeys, type OwnedKey } from "./make-keys.ts";
import { startServerProcess } from "./server-process.ts";

type Usage = Pick<UsageSummary, "input_chars" | "input_audio_seconds" | "output_audio_seconds">;

/** Returns the usage of a complete reply, else null. */
async function attempt(client: Client, index: number): Promise<Usage | null> {
  const text = "and so on ".repeat(1 + (index % 20));
  try {
    if (index % 2 === 0) {
      const response = await client.post("/v1/tts", { text });
      return response.status === 200 ? (await response.json()).usage : null;
    }
    for await (const { event, data } of client.stream({ conversation: [{ text }] })) {
      if (event === "end") return data.usage;
    }
    return null;
  } catch {
    return null;
  }
}

it("a server killed under load has metered every answered request once", async () => {
  const dataDir = join(temporaryFolder(), "data");
  const keys = await makeKeys(dataDir, 60);
  const answered = new Map<OwnedKey, Usage>();
  // Each request has its own key, so that the totals count it alone. The last ten keys are unused.
  for (const round of [keys.slice(0, 25), keys.slice(25, 50)]) {
    const server = await startServerProcess({ dataDir });
    let successes = 0;
    let cut = 0;
    await Promise.all(
      round.map(async (key, index) => {
        const usage = await attempt(clientOf(server.url, key.key), index);
        if (usage === null) cut++;
        else {
          answered.set(key, usage);
          if (++successes === 8) server.child.kill("SIGKILL");
        }
      }),
    );
    await within("the killed server's end", server.ended);
    assert.equal(server.child.signalCode, "SIGKILL");
    assert.ok(successes >= 8 && cut > 0, `${successes} were answered and ${cut} were cut off`);
  }
  const server = await startServerProcess({ dataDir });
  for (const [index, key] of keys.entries()) {
    const usage = answered.get(key);
    const { key_id, requests, ...total } = await clientOf(server.url, key.key).usage();
    assert.equal(key_id, key.keyId);
    if (usage === undefined) {
      assert.ok(
        requests <= (index < 50 ? 1 : 0),
        `request ${index} was cut off and is counted ${requests} times`,
      );
      continue;
    }
    assert.equal(requests, 1, `request ${index} was answered`);
    const { input_chars, input_audio_seconds, output_audio_seconds } = total;
    assert.deepEqual({ input_chars, input_audio_seconds, output_audio_seconds }, usage);
  }
  assert.equal((await server.stop()).code, 0);
});
