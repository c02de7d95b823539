import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Turn } from "../../src/core/conversation.ts";
import { chooseThread } from "../../src/workers/worker-pool.ts";
import fc from "../properties.ts";

const written: Turn = { speaker: "1", text: "Well?", audio: null };

function heard(digest: string): Turn {
  const audio = { samples: new Float32Array(1), sampleRateHz: 24_000, durationS: 1 / 24_000, digest };
  return { speaker: "0", text: null, audio };
}

const loads = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 });

describe("the chosen thread", () => {
  it("has the least load if there is no audio", () => {
    fc.assert(
      fc.property(loads, (each) => {
        const threads = each.map((load) => ({ load }));
        assert.equal(chooseThread(threads, { history: [written] }).load, Math.min(...each));
      }),
    );
  });

  it("is the same for every conversation that begins with one clip", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (digest, later) => {
        const threads = [{ load: 0 }, { load: 1 }, { load: 1 }, { load: 0 }];
        const first = chooseThread(threads, { history: [written, heard(digest)] });
        const grown = { history: [written, heard(digest), ...later.map(heard), written] };
        assert.equal(chooseThread(threads, grown), first);
      }),
    );
  });

  it("never has two more utterances than another", () => {
    fc.assert(
      fc.property(loads, fc.string(), (each, digest) => {
        const chosen = chooseThread(
          each.map((load) => ({ load })),
          { history: [heard(digest)] },
        );
        assert.ok(chosen.load <= Math.min(...each) + 1);
      }),
    );
  });

  it("is an idle one if a thread keeps pace with one listener only", () => {
    fc.assert(
      fc.property(loads, fc.string(), (each, digest) => {
        const threads = each.map((load) => ({ load }));
        assert.equal(chooseThread(threads, { history: [heard(digest)] }, 0).load, Math.min(...each));
      }),
    );
  });

  it("varies from clip to clip", () => {
    const threads = [{ load: 0 }, { load: 0 }];
    const chosen = Array.from({ length: 40 }, (_, i) =>
      chooseThread(threads, { history: [heard(`clip ${i}`)] }),
    );
    assert.ok(threads.every((thread) => chosen.filter((each) => each === thread).length > 8));
  });
});
