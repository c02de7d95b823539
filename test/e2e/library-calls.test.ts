import assert from "node:assert/strict";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { type Antiphon, open, type Recording, type Speech } from "../../src/library/antiphon.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { failure, framesOf, samplesOf } from "../library/using.ts";
import { json, TranscriptionServer } from "../recognition/transcription-server.ts";
import { temporaryFolder } from "./folders.ts";

const TEMPERATURE_0 = { params: { temperature: 0 } };
const NO_MODELS = { writer: { kind: "none" }, recogniser: { kind: "none" } };

/** Calls that the types do not allow. */
type Untyped = Record<"say" | "converse", (...args: unknown[]) => Speech> &
  Record<"transcribe" | "phonemes", (...args: unknown[]) => Promise<unknown>>;

describe("an argument of the library", () => {
  let antiphon: Antiphon;
  before(async () => {
    antiphon = await open({ dataDir: temporaryFolder(), ...NO_MODELS });
  });
  after(() => antiphon.close());

  it("may be an earlier turn's sound, in any form", async () => {
    const samples = samplesOf(
      await framesOf(antiphon.say("The sea was warm, and we swam till dark.", TEMPERATURE_0)),
    );
    const wav = Buffer.from(encodeWav(toPcm16(samples), 24_000));
    const file = join(temporaryFolder(), "earlier.wav");
    writeFileSync(file, wav);
    const given: Recording[] = [
      ...[samples, wav, new Uint8Array(wav).buffer, new Blob([new Uint8Array(wav)])],
      ...[createReadStream(file), file, pathToFileURL(file)],
    ];
    const spoken: Float32Array[] = [];
    for (const turn of [...given.map((audio) => ({ audio })), { audio_wav_b64: wav.toString("base64") }])
      spoken.push(samplesOf(await framesOf(antiphon.converse([turn, { text: "And then?" }], TEMPERATURE_0))));
    const alone = samplesOf(await framesOf(antiphon.converse([{ text: "And then?" }], TEMPERATURE_0)));
    assert.notDeepEqual(spoken[0], alone);
    for (const other of spoken) assert.deepEqual(other, spoken[0]);
  });

  it("is reported if ignored, and repeats for a long text", async () => {
    const cautions = async (text: string, instructions?: string) => {
      const speech = antiphon.say(text, {
        ...TEMPERATURE_0,
        ...(instructions === undefined ? {} : { instructions }),
      });
      await framesOf(speech);
      return (await speech.end).meta.cautions;
    };
    assert.deepEqual(await cautions("Hi.", "like a pirate"), ["instructions: none; not followed: pirate"]);
    assert.deepEqual(await cautions("Hi.", "slower"), undefined);
    const filling = `<!-- ${"x".repeat(9_000)} -->`;
    const lang = '<p><lang xml:lang="fr">Well.</lang></p>';
    assert.deepEqual(await cautions(`<speak>${lang}${filling}<p>Good evening.</p></speak>`), [
      "<lang> xml:lang fr is ignored",
    ]);
    assert.deepEqual(await antiphon.phonemes('<speak>Hi<break time="1s"/>.</speak>'), ["hˈI."]);
    const long = `${"Hi. ".repeat(3)}\n\n${"!? ".repeat(2_700)}\n\nBye.`;
    const said = async () => samplesOf(await framesOf(antiphon.say(long)));
    assert.deepEqual(await said(), await said());
  });

  it("is refused in a sentence that names the field", async () => {
    const untyped = antiphon as unknown as Untyped;
    const openUntyped = open as (settings: unknown) => Promise<unknown>;
    const long = "Hi. ".repeat(3_000);
    const say =
      (text: string, options: object = {}) =>
      () =>
        framesOf(antiphon.say(text, options));
    const saying =
      (...args: unknown[]) =>
      () =>
        framesOf(untyped.say(...args));
    const converse =
      (...args: unknown[]) =>
      () =>
        framesOf(untyped.converse(...args));
    const sound = new Float32Array(24_000);
    const invalid: [work: () => unknown, field: string | null, message: RegExp][] = [
      [say("Hi.", { voice: "novva" }), "voice", /did you mean "nova"\?/],
      [say(""), "text", /^text must have at least 1 character/],
      [say("!?"), "text", /speakable/],
      [say("!?".repeat(5_000)), "text", /speakable/],
      [say("<speak>Hi"), "text", /./],
      [say(`${long}[pause:1h]`), "text", /^text: line 1, column 12001: \[pause:…\] has/],
      [
        say(long, { params: { max_new_tokens: 9 } }),
        "params.max_new_tokens",
        /is spoken whole: leave it out\.$/,
      ],
      [
        say("Hi.", { params: { temprature: 0 } }),
        "params.temprature",
        /^params\.temprature: there is no such field/,
      ],
      [converse([{ txt: "Hi." }]), "conversation[0].txt", /^conversation\[0\]\.txt: there is no such field/],
      [() => antiphon.phonemes("<speak>Hi"), "text", /never closed/],
      [say(`<speak>${long}`), "text", /./],
      [say("Hi.", { params: { temperature: 9 } }), "params.temperature", /at most 1\.5/],
      [say(long, { voice: "novva" }), "voice", /did you mean "nova"\?/],
      [converse([]), "conversation", /at least 1 item/],
      [
        converse([{ audio: new Uint8Array(9), text: "a" }, { text: "b" }]),
        "conversation[0].audio",
        /undecodable/,
      ],
      [
        converse([{ audio: "none.wav" }, { text: "b" }]),
        "conversation[0].audio",
        /cannot be read \(ENOENT\)/,
      ],
      [converse([{ audio: sound }]), "conversation[0].audio", /is not allowed on the open turn/],
      [() => antiphon.transcribe("a.wav", { language: "Elvish" }), "language", /unknown/],
      [saying(), "text", /string/],
      [saying(42), "text", /string/],
      [saying("Hi.", null), "options", /object/],
      [saying("Hi.", { voice: 3 }), "voice", /string/],
      [saying("Hi.", { vioce: "nova" }), "vioce", /did you mean voice\?/],
      [saying("Hi.", { signal: "x" }), "signal", /AbortSignal/],
      [saying("Hi.", { instructions: 3 }), "instructions", /string/],
      [converse(), "conversation", /conversation/],
      [converse([null]), "conversation[0]", /object/],
      [converse([{ audio: 3 }, {}]), "conversation[0].audio", /path/],
      [() => untyped.phonemes(), "text", /string/],
    ];
    const others: [work: () => unknown, code: string, field: string | null, message: RegExp][] = [
      [converse([{ text: "Hi." }, {}]), "inference_error", null, /writer/],
      [() => antiphon.transcribe("a.wav"), "settings", "recogniser.kind", /recogniser\.kind is none/],
      [() => open({ portt: 1 }), "settings", "portt", /"portt", which is not a setting: did you mean port\?/],
      [() => open({ writer: { knd: 1 } }), "settings", "writer.knd", /did you mean writer\.kind\?/],
      [() => open({ workers: "many" }), "settings", "workers", /takes/],
      [() => open({ writer: { kind: "gguf" } }), "settings", "writer.path", /writer\.path/],
      [() => openUntyped(null), "settings", null, /an object of settings/],
      [() => openUntyped({ workers: () => 1 }), "settings", "workers", /takes/],
    ];
    for (const [work, field, message] of invalid) others.push([work, "invalid_request", field, message]);
    for (const [work, code, field, message] of others) {
      const error = await failure(work);
      assert.match(error.message, message);
      assert.match(error.message, /[^.][.?]$/);
      assert.deepEqual([error.code, error.field], [code, field], error.message);
    }
  });

  it("may be a recording, transcribed as the command does", async () => {
    const server = await TranscriptionServer.open();
    const file = join(temporaryFolder(), "tone.wav");
    const wav = Buffer.from(encodeWav(new Int16Array(8_000), 16_000));
    writeFileSync(file, wav);
    const answer = {
      text: "The tea is ready.",
      language: "english",
      duration: 0.5,
      segments: [{ start: 0, end: 0.5, text: " The tea is ready.", avg_logprob: -0.5, no_speech_prob: 0.1 }],
      words: ["The", "tea", "is", "ready."].map((word, at) => ({ word, start: at / 10, end: (at + 1) / 10 })),
    };
    const env = {
      ANTIPHON_RECOGNISER_KIND: "endpoint",
      ANTIPHON_RECOGNISER_BASE_URL: server.baseUrl,
      ANTIPHON_RECOGNISER_MODEL: "some-whisper",
    };
    const recogniser = { kind: "endpoint", baseUrl: server.baseUrl, model: "some-whisper" };
    const own = await open({ dataDir: temporaryFolder(), recogniser });
    try {
      for (const words of [false, true]) {
        server.answers(json(answer));
        const line = ["transcribe", file, "--json", ...(words ? ["--words"] : [])];
        const printed = JSON.parse((await runAntiphon(line, { env })).stdout);
        for (const given of [file, wav, createReadStream(file), new Blob([new Uint8Array(wav)])])
          assert.deepEqual(await own.transcribe(given, { words }), printed);
      }
      for (const given of [new Uint8Array(100), "none.wav", createReadStream(file, "latin1")])
        assert.equal((await failure(() => own.transcribe(given))).field, "recording");
      const leaving = new AbortController();
      const stuck = assert.rejects(own.transcribe(new PassThrough(), { signal: leaving.signal }), /enough/);
      leaving.abort(new Error("enough"));
      await stuck;
      const closed = failure(() => own.transcribe(new PassThrough()));
      await own.close();
      assert.equal((await closed).code, "closed");
    } finally {
      await own.close();
      await server.close();
    }
  });
});
