import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { medianPitchHz } from "../engines/embedded/listening.ts";
import { type Client, clientOf } from "./client.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { rms } from "./speech.ts";

const INPUT = "We met at the harbour, well before sunrise. Nobody had slept much.";

describe("POST /v1/audio/speech", () => {
  let server: ServerProcess;
  let client: Client;
  before(async () => {
    server = await startServerProcess();
    client = clientOf(server.url, server.key);
  });
  after(() => server.stop());

  async function spoken(fields: object) {
    const reply = await client.post("/v1/audio/speech", { input: INPUT, response_format: "pcm", ...fields });
    assert.equal(reply.status, 200);
    const bytes = Buffer.from(await reply.arrayBuffer());
    const samples = Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(2 * at));
    return {
      manner: reply.headers.get("x-antiphon-manner"),
      seconds: samples.length / 24_000,
      level: rms(samples),
      pitchHz: medianPitchHz(Float32Array.from(samples, (sample) => sample / 32_768)),
    };
  }

  it("moves length, level and pitch as instructions say", async () => {
    const plain = await spoken({});
    assert.equal(plain.manner, null);
    const slow = await spoken({ instructions: "Much slower, please." });
    assert.deepEqual([slow.manner, slow.seconds > 1.03 * plain.seconds], ["much slower", true]);
    const fast = await spoken({ instructions: "Very quickly!" });
    assert.deepEqual([fast.manner, fast.seconds < 0.97 * plain.seconds], ["much faster", true]);
    const soft = await spoken({ instructions: "Softly" });
    assert.deepEqual([soft.manner, soft.level < 0.7 * plain.level], ["quieter", true]);
    const high = await spoken({ instructions: "Very high-pitched" });
    assert.deepEqual([high.manner, high.pitchHz > 1.06 * plain.pitchHz], ["much higher", true]);
    const sad = await spoken({ instructions: "Sad, but don't whisper." });
    assert.equal(sad.manner, "sad; not followed: but dont whisper");
    assert.ok(sad.seconds > plain.seconds && sad.level < plain.level && sad.pitchHz < plain.pitchHz);
  });

  it("halves the length at a speed of 2, and doubles it at 0.5", async () => {
    const plain = await spoken({});
    for (const speed of [2, 0.5]) {
      const { seconds } = await spoken({ speed });
      assert.ok(Math.abs((speed * seconds) / plain.seconds - 1) < 0.15, `${seconds} of ${plain.seconds} s`);
    }
  });

  it("has its instructions in antiphon say --instructions", async () => {
    const say = (...more: string[]) =>
      runAntiphon(["say", INPUT, "--params", JSON.stringify({ temperature: 0 }), ...more]);
    const [plain, slow] = [await say(), await say("--instructions", "Much slower, like a pirate")];
    assert.equal(slow.code, 0);
    assert.ok(slow.bytes.length > 1.1 * plain.bytes.length);
    assert.equal(slow.stderr, "Said as: much slower; not followed: pirate.\n");
  });
});
