import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Client, clientOf } from "./client.ts";
import { begun, crowd } from "./crowd.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const TEXT = "Seven ships came in on the evening tide.";
const LONG = "The wind turned in the night and nobody slept much after that. ".repeat(30);
const TEMPERATURE_0 = { temperature: 0 };
const FINELY_VARIED = { temperature: 0, acoustic_temperature: 1 };

function everyWay(client: Client, params: object): Promise<Buffer[]> {
  const conversation = [{ text: TEXT }];
  return Promise.all([
    client.tts({ text: TEXT, params }),
    client.converse({ conversation, params }),
    client.streamed({ conversation, params }),
  ]);
}

describe("a reply at temperature 0", () => {
  let server: ServerProcess;
  let client: Client;
  before(async () => {
    // Unpaced, so that there is always something else to compute.
    server = await startServerProcess({ env: { ANTIPHON_WORKERS: "2", ANTIPHON_MAX_AHEAD_S: "0" } });
    client = clientOf(server.url, server.key);
  });
  after(() => server.stop());

  it("is the same byte for byte on every route, alone and among eight streams", async () => {
    const alone = await everyWay(client, TEMPERATURE_0);
    const finelyAlone = await client.tts({ text: TEXT, params: FINELY_VARIED });
    const disperse = await crowd(client, LONG, 8);
    const [crowded, finelyCrowded] = await Promise.all([
      everyWay(client, TEMPERATURE_0),
      everyWay(client, FINELY_VARIED),
    ]);
    assert.equal(await begun(client), 8, "the others were still being spoken");
    await disperse();

    assert.ok(alone[0]!.length > 24_000, `${alone[0]!.length} bytes`);
    for (const pcm of [...alone, ...crowded]) assert.ok(pcm.equals(alone[0]!));
    for (const pcm of finelyCrowded) assert.ok(pcm.equals(finelyAlone));
  });

  it("varies above temperature 0", async () => {
    const params = { temperature: 0.7 };
    const [one, other] = await Promise.all([
      client.tts({ text: TEXT, params }),
      client.tts({ text: TEXT, params }),
    ]);
    assert.ok(!one.equals(other));
  });

  it("varies in its detail with the text and acoustic_temperature alone", async () => {
    const [again, changed] = await Promise.all([
      client.tts({ text: TEXT, params: FINELY_VARIED }),
      client.tts({ text: TEXT, params: TEMPERATURE_0 }),
    ]);
    assert.ok(again.equals(await client.tts({ text: TEXT, params: FINELY_VARIED })));
    assert.ok(!again.equals(changed), "the acoustic temperature does something");
  });
});
