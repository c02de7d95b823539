import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RunQueued } from "../../../src/core/run-queued.ts";
import { AdaptedNetworks } from "../../../src/engines/embedded/adapter.ts";
import { openNetwork } from "../../../src/engines/embedded/network.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { EMBEDDED_VOICES } from "../../../src/models/public-models.ts";
import { VOICE_DIR } from "./voice.ts";

const people = (inTurn: RunQueued = (run) => run()) =>
  new AdaptedNetworks({ voiceDir: VOICE_DIR, precision: undefined, guard: undefined, inTurn });

const IDS = [0, 50, 83, 54, 156, 57, 135, 0];

describe("The people of the voice", () => {
  test("are those of the cast", () => {
    assert.deepEqual(
      [...createVoices().keys()],
      EMBEDDED_VOICES.map(({ id }) => id),
    );
  });

  test("have a network each, opened once for all who ask at once, that speaks otherwise than the voice's own", async () => {
    const all = people();
    const [label = ""] = [...createVoices().values()].flatMap(({ adapter }) => adapter ?? []);
    const [one, same] = await Promise.all([all.network(label), all.network(label)]);
    assert.equal(one, same);
    const { steps } = await one.read(IDS);
    assert.equal(steps.length, 8);
    assert.ok(steps.every((each) => each > 0 && each < 40));
    const voice = await openNetwork(VOICE_DIR);
    assert.notDeepEqual(steps, (await voice.read(IDS)).steps);
    await voice.close();
    await all.close();
  });

  test("are opened one after another, so that others can speak in between", async () => {
    let [open, most] = [0, 0];
    const all = people(async (run) => {
      most = Math.max(most, ++open);
      try {
        return await run();
      } finally {
        open--;
      }
    });
    const labels = [...createVoices().values()].flatMap(({ adapter }) => adapter ?? []).slice(0, 3);
    await Promise.all(labels.map((label) => all.network(label)));
    assert.equal(most, 1);
    await all.close();
  });

  test("who are not there are named, each time that they are asked for, and are not in the way of closing", async () => {
    const all = people();
    for (let times = 0; times < 2; times++)
      await assert.rejects(all.network("nobody"), {
        name: "SpeechFailedError",
        message: /as nobody/,
      });
    await all.close();
  });
});
