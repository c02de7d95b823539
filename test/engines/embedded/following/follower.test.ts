import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Turn } from "../../../../src/core/conversation.ts";
import {
  decodeCalibration,
  measureCalibration,
} from "../../../../src/engines/embedded/following/calibration.ts";
import {
  createVoiceBaseline,
  EmbeddedFollower,
} from "../../../../src/engines/embedded/following/follower.ts";
import { createVoices, type EmbeddedSpeaker } from "../../../../src/engines/embedded/speakers.ts";
import type { CastSpeaker } from "../../../../src/engines/following/reference-voice.ts";
import { collectGarbage } from "../../../collect-garbage.ts";
import { finish } from "../../following/analysis/finish.ts";
import { clipOf, noise, scaled } from "../../following/analysis/signals.ts";
import { openFollowContext } from "./follow-context.ts";

describe("A follower", () => {
  const voices = createVoices();
  let context: Awaited<ReturnType<typeof openFollowContext>>;
  let follower: EmbeddedFollower;
  let man: Float32Array;

  before(async () => {
    context = await openFollowContext();
    follower = new EmbeddedFollower({ ...context, voices });
    const voice = voices.get("1")!;
    const { timings } = await createVoiceBaseline(context).plans();
    const decoded = await decodeCalibration(context.network, timings, voice);
    man = finish(
      measureCalibration(context.kernel, decoded, (plan) => voice.spectrumTransform(plan)),
    ).samples;
  });
  after(() => context.close());

  const turn = (speaker: string, samples: Float32Array, digest: string): Turn => ({
    speaker,
    text: null,
    audio: { ...clipOf(samples), digest },
  });
  const castOf = (history: readonly Turn[], by = follower): Promise<CastSpeaker<EmbeddedSpeaker>> =>
    by.cast({ history, speaker: "0" }, voices.get("0")!, "all");

  test("hears nothing where no turn has audio: the voice stays its own", async () => {
    const voice = voices.get("0")!;
    assert.deepEqual(await castOf([]), { speaker: voice, followed: null });
    assert.deepEqual(await castOf([{ speaker: "1", text: "Good morning.", audio: null }]), {
      speaker: voice,
      followed: null,
    });
  });

  test("a recording that was chosen is followed in place of the speaker's own turns, and is no turn", async () => {
    const history = [turn("0", scaled(noise(48_000, 1), 0.2), "hiss")];
    const sample = { clip: { ...clipOf(man), digest: "man" }, text: null };
    const script = { history, speaker: "0", voice: [{ weight: 1, sample }] };
    const { followed } = await follower.cast(script, voices.get("0")!, "all");
    assert.deepEqual(
      [followed?.start, followed?.turns, followed?.trust, followed?.cautions],
      ["1", [], 1, []],
    );
  });

  test("one of our voices that was chosen is itself, whatever the speaker's turns sound like", async () => {
    const script = { history: [turn("0", man, "man")], speaker: "0", voice: [{ weight: 1, id: "0" }] };
    const voice = voices.get("0")!;
    assert.deepEqual(await follower.cast(script, voice, "all"), { speaker: voice, followed: null });
  });

  test("who hears our own voice 1 sets out from it and stays near", async () => {
    const { followed } = await castOf([turn("0", man, "man")]);
    assert.ok(followed !== null && followed.start === "1" && followed.trust === 1);
    assert.deepEqual([followed.turns, followed.cautions, followed.entrainedBy], [[0], [], null]);
    assert.ok(Math.abs(followed.pitchSemitones) < 1, `${followed.pitchSemitones} semitones`);
    const { warp } = voices.get("1")!;
    assert.ok(Math.abs(followed.warp / warp - 1) < 0.03, `a tract of ${followed.warp}`);
    assert.ok(Math.abs(followed.levelDb) < 1, `${followed.levelDb} dB`);
    assert.ok(followed.spectrumDb < 2, `${followed.spectrumDb} dB`);
  });

  test("a clip that is no voice leads nowhere, and its caution is named", async () => {
    const { speaker, followed } = await castOf([turn("0", scaled(noise(48_000, 1), 0.2), "hiss")]);
    assert.equal(speaker, voices.get("0"));
    assert.deepEqual([followed?.followed, followed?.cautions, followed?.trust], [[], ["no voice"], 0]);
  });

  test("another speaker's clip lends level and pace alone, a little", async () => {
    const quiet = [turn("0", scaled(noise(24_000, 1), 0.2), "hiss"), turn("1", scaled(man, 0.4), "quiet")];
    const { speaker, followed } = await castOf(quiet);
    const { register, spectrumTransform: colour } = voices.get("0")!;
    assert.equal(speaker.register, register);
    assert.equal(speaker.spectrumTransform, colour);
    assert.equal(followed?.entrainedBy, 1);
    assert.ok(followed.levelDb < -1 && followed.levelDb > -3.01, `${followed.levelDb} dB`);
    assert.ok(Math.abs(speaker.tempo - 1) <= 0.051);
    const loud = voices.get("9")!;
    const lent = (await follower.cast({ history: quiet, speaker: "0" }, loud, "all")).speaker;
    assert.ok(Math.abs(lent.gain - loud.gain * speaker.gain) < 1e-6, "nobody loses a gain of their own");
  });

  test("the same turns give the same voice at once, and as good a one to another follower", async () => {
    const history = [turn("0", man, "man")];
    const known = await castOf(history);
    assert.equal((await castOf(history)).speaker, known.speaker);
    const { followed } = await castOf(history, new EmbeddedFollower({ ...context, voices }));
    assert.deepEqual(followed, known.followed);
  });

  test("keeps less than 256 KiB for a followed clip: its profile, not the decoded sentences", async () => {
    const history = (digest: string) => [turn("0", man, digest)];
    const keptBytes = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    await castOf(history("earlier"));
    const before = keptBytes();
    await castOf(history("later"));
    const kept = keptBytes() - before;
    assert.ok(kept < 2 ** 18, `${kept} bytes`);
  });

  test("a clip that is said to hold other words is followed anew: its pace is another", async () => {
    const sentence =
      "We were told that the ferry would leave at nine, and that nobody was to be late for it. ";
    const rateOf = async (text: string | null) =>
      (await castOf([{ ...turn("0", man, "man"), text }])).followed?.rate ?? assert.fail("nothing was heard");
    const [unknown, few, many] = [
      await rateOf(null),
      await rateOf(sentence.repeat(2)),
      await rateOf(sentence.repeat(3)),
    ];
    assert.ok(many > few && unknown !== few && unknown !== many, `${unknown}, ${few}, ${many}`);
    assert.equal(await rateOf(sentence.repeat(2)), few);
  });

  test("what failed once is tried again", async () => {
    let failures = 1;
    const failing = new EmbeddedFollower({
      ...context,
      voices,
      run: async (work) => {
        if (failures-- > 0) throw new Error("no time to listen");
        return finish(work);
      },
    });
    const history = [turn("0", scaled(noise(9_600, 2), 0.2), "hiss")];
    await assert.rejects(castOf(history, failing), /no time/);
    assert.equal((await castOf(history, failing)).followed?.trust, 0);
  });
});
