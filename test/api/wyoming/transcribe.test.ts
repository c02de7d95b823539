import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { WyomingDeps } from "../../../src/api/wyoming/requests.ts";
import { Recording } from "../../../src/api/wyoming/transcribe.ts";
import type { RequestContext } from "../../../src/requests/request-context.ts";

const HOME = { rate: 16_000, width: 2, channels: 1 };

test("a recording's pace counts what has come of the next event, and no time for which it had to wait for room", async (context) => {
  let nowMs = 1_000;
  context.mock.method(performance, "now", () => nowMs);
  const admitRecording = mock.fn(async () => {
    nowMs += 60_000;
    return { units: 1 };
  });
  const deps = { requestReader: { admitRecording } } as unknown as WyomingDeps;
  const open = new Recording(HOME, {} as RequestContext, deps);
  nowMs += 500;
  assert.deepEqual(open.activity(0), { is: "empty", ageMs: 500 });
  assert.deepEqual(open.activity(70), { is: "sending", ageMs: 500, bytesPerS: 140 });
  await open.add(new Uint8Array(200_000));
  assert.equal(admitRecording.mock.callCount(), 1);
  nowMs += 500;
  assert.deepEqual(open.activity(70), { is: "sending", ageMs: 1_000, bytesPerS: 200_070 });
});
