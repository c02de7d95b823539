import assert from "node:assert/strict";
import { test } from "node:test";
import { ScriptedRecogniser } from "../../../recognition/scripted-recogniser.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { startTestServer } from "../start.ts";

test("a client that sends an hour of silence as fast as it can holds nobody up, and is heard after it", async () => {
  const detector = new ScriptedDetector();
  const recogniser = new ScriptedRecogniser();
  const own = await startTestServer({ detector, recogniser, writer: new ScriptedWriter(["Yes."]) });
  try {
    const client = await RealtimeClient.open(own);
    const other = await RealtimeClient.open(own);
    const audio = Buffer.alloc(48_000 * 60).toString("base64");
    for (let minute = 0; minute < 60; minute += 1) client.send({ type: "input_audio_buffer.append", audio });
    other.speak(700);
    other.speak(800, { isSilent: true });
    await other.upTo("response.done");
    client.send({ type: "conversation.item.retrieve", item_id: "none" });
    await client.upTo("error", { deadlineMs: 200_000 });
    client.speak(700);
    client.speak(800, { isSilent: true });
    const { audio_start_ms } = await client.upTo("input_audio_buffer.speech_started");
    assert.ok(Math.abs((audio_start_ms as number) - 3_600_000) <= 400, `${audio_start_ms}`);
    await client.upTo("response.created");
    assert.ok(detector.resets >= 60, "the detector begins anew now and then");
    await client.close();
    await other.close();
  } finally {
    await own.stop();
  }
});
