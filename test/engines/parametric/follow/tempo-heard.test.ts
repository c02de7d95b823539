import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createOwnVoice, REHEARSED } from "../../../../src/engines/parametric/follow/own-voice.ts";
import { decodeRehearsed, rehearse } from "../../../../src/engines/parametric/follow/rehearsal.ts";
import { heardTempo, ownSpeechS } from "../../../../src/engines/parametric/follow/tempo.ts";
import { listen } from "../../../../src/engines/parametric/listen/voice-profile.ts";
import { createVoices } from "../../../../src/engines/parametric/speakers.ts";
import { finish } from "../listen/finish.ts";
import { clipOf } from "../listen/signals.ts";
import { openInstrument } from "./instrument.ts";

describe("How long our voice would speak", () => {
  let instrument: Awaited<ReturnType<typeof openInstrument>>;
  before(async () => {
    instrument = await openInstrument();
  });
  after(() => instrument.close());

  const ownS = (text: string) => ownSpeechS(instrument.network, instrument.reader, text);

  test("is what is heard of it: its own words in its own audio are at its own tempo", async () => {
    const { network, kernel } = instrument;
    const voice = createVoices().get("0")!;
    const { timings } = await createOwnVoice(instrument).plans();
    const decoded = await decodeRehearsed(network, timings, voice);
    const { samples } = finish(rehearse(kernel, decoded, (plan) => voice.colour(plan)));
    const profile = finish(listen(clipOf(samples)));
    const tempo = heardTempo([{ profile, ownS: await ownS(REHEARSED.slice(0, 4).join(" ")) }]);
    assert.ok(Math.abs(tempo - 1) < 0.06, `${tempo}`);
    assert.equal(profile.suitability.trust, 1);
    // By syllables alone it is told less well.
    const counted = heardTempo([{ profile, ownS: null }]);
    assert.ok(Math.abs(counted - 1) < 0.25, `${counted}`);
  });

  test("grows with the words, pauses left out", async () => {
    const [one, two] = [await ownS("Rice is nice."), await ownS("Rice is nice… Rice is nice.")];
    assert.ok(Math.abs(two! / one! - 2) < 0.2, `${one} s and ${two} s`);
  });

  test("is not known of a text that has nothing to read or is more than a minute long", async () => {
    assert.equal(await ownS("…"), null);
    assert.equal(await ownS(""), null);
    assert.equal(await ownS("Rice is nice. ".repeat(80)), null);
  });
});
