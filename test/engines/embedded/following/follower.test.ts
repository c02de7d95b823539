import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import type { Turn } from "../../../../src/core/conversation.ts";
import {
  decodeCalibration,
  measureCalibration,
} from "../../../../src/engines/embedded/following/calibration.ts";
import {
  createVoiceBaseline,
  EmbeddedFollower,
  nearestVoice,
} from "../../../../src/engines/embedded/following/follower.ts";
import { createVoices, type EmbeddedSpeaker } from "../../../../src/engines/embedded/speakers.ts";
import type { CastSpeaker } from "../../../../src/engines/following/reference-voice.ts";
import { collectGarbage } from "../../../collect-garbage.ts";
import { finish } from "../../following/analysis/finish.ts";
import { clipOf, noise, scaled } from "../../following/analysis/signals.ts";
import { openFollowContext } from "./follow-context.ts";

describe("EmbeddedFollower", () => {
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

  test("keeps the voice where no turn has audio", async () => {
    const speaker = voices.get("0")!;
    for (const history of [[], [{ speaker: "1", text: "Good morning.", audio: null }]])
      assert.deepEqual(await castOf(history), { speaker, followed: null });
  });

  test("follows a chosen recording instead of the speaker's turns", async () => {
    const history = [turn("0", scaled(noise(48_000, 1), 0.2), "hiss")];
    const sample = { clip: { ...clipOf(man), digest: "man" }, text: null };
    const script = { history, speaker: "0", voice: [{ weight: 1, sample }] };
    const { followed } = await follower.cast(script, voices.get("0")!, "all");
    assert.deepEqual(
      [followed?.start, followed?.turns, followed?.trust, followed?.cautions],
      ["1", [], 1, []],
    );
  });

  test("keeps a chosen embedded voice", async () => {
    const script = { history: [turn("0", man, "man")], speaker: "0", voice: [{ weight: 1, id: "0" }] };
    const voice = voices.get("0")!;
    assert.deepEqual(await follower.cast(script, voice, "all"), { speaker: voice, followed: null });
  });

  test("starts from embedded voice 1 for its clip, and stays near", async () => {
    const { followed } = await castOf([turn("0", man, "man")]);
    assert.ok(followed !== null && followed.start === "1" && followed.trust === 1);
    assert.deepEqual([followed.turns, followed.cautions, followed.entrainedBy], [[0], [], null]);
    assert.ok(Math.abs(followed.pitchSemitones) < 1, `${followed.pitchSemitones} semitones`);
    const { warp } = voices.get("1")!;
    assert.ok(Math.abs(followed.warp / warp - 1) < 0.03, `a tract of ${followed.warp}`);
    assert.ok(Math.abs(followed.levelDb) < 1, `${followed.levelDb} dB`);
    assert.ok(followed.spectrumDb < 2, `${followed.spectrumDb} dB`);
  });

  test("follows no clip without a voice, and names the caution", async () => {
    const { speaker, followed } = await castOf([turn("0", scaled(noise(48_000, 1), 0.2), "hiss")]);
    assert.equal(speaker, voices.get("0"));
    assert.deepEqual([followed?.followed, followed?.cautions, followed?.trust], [[], ["no voice"], 0]);
  });

  test("takes a little of another's level and pace", async () => {
    const quiet = [turn("0", scaled(noise(24_000, 1), 0.2), "hiss"), turn("1", scaled(man, 0.4), "quiet")];
    const { speaker, followed } = await castOf(quiet);
    const { register, spectrumTransform } = voices.get("0")!;
    assert.equal(speaker.register, register);
    assert.equal(speaker.spectrumTransform, spectrumTransform);
    assert.equal(followed?.entrainedBy, 1);
    assert.ok(followed.levelDb < -1 && followed.levelDb > -3.01, `${followed.levelDb} dB`);
    assert.ok(Math.abs(speaker.tempo - 1) <= 0.051);
    const loud = voices.get("9")!;
    const lent = (await follower.cast({ history: quiet, speaker: "0" }, loud, "all")).speaker;
    assert.ok(Math.abs(lent.gain - loud.gain * speaker.gain) < 1e-6, "the voice keeps its own gain");
  });

  test("caches the voice of a history, and returns the same from another follower", async () => {
    const history = [turn("0", man, "man")];
    const known = await castOf(history);
    assert.equal((await castOf(history)).speaker, known.speaker);
    const { followed } = await castOf(history, new EmbeddedFollower({ ...context, voices }));
    assert.deepEqual(followed, known.followed);
  });

  test("keeps less than 256 KiB for a clip", async () => {
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

  test("follows a clip with another text anew, at another pace", async () => {
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

  test("tries again after a failure", async () => {
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

const own = { centre: Math.log(200), deviations: new Float32Array(0), sentences: [] };
const voices = createVoices();
const nearest = (hz: number, warp: number | null) =>
  nearestVoice(voices, own, { pitch: new Float32Array(9).fill(Math.log(hz)), warp }).label;

describe("nearestVoice", () => {
  it("returns each voice for its own pitch, with and without a vocal tract", () => {
    for (const [label, voice] of voices) {
      for (const body of voice.startingForms) {
        assert.equal(nearest(200 * body.level, body.warp), label);
        assert.equal(nearest(200 * body.level, null), label);
      }
    }
  });

  it("decides by the pitch without a vocal tract, half-way in semitones", () => {
    const between = 200 * Math.sqrt(0.6);
    assert.equal(nearest(1.02 * between, null), "0");
    assert.equal(nearest(0.98 * between, null), "1");
  });

  it("takes a high voice with a long tract for a man's, a low one with a short tract for a woman's", () => {
    const between = 200 * Math.sqrt(0.6);
    assert.equal(nearest(1.1 * between, 0.82), "1");
    assert.equal(nearest(0.9 * between, 1.02), "0");
  });

  it("throws without voices", () => {
    assert.throws(() => nearestVoice(new Map(), own, { pitch: new Float32Array(0), warp: null }), /No voice/);
  });
});
