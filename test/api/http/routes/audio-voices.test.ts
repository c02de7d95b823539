import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import pino from "pino";
import { libsqlStore } from "../../../../src/accounts/libsql/libsql-store.ts";
import { RecogniserError } from "../../../../src/core/recogniser.ts";
import type { Script } from "../../../../src/core/script.ts";
import { EMBEDDED_VOICES } from "../../../../src/models/public-models.ts";
import { memoryStore } from "../../../accounts/memory-store.ts";
import { mixture, noise } from "../../../engines/following/analysis/signals.ts";
import { syntheticVoice } from "../../../engines/following/analysis/synthetic-voice.ts";
import { ScriptedRecogniser } from "../../../recognition/scripted-recogniser.ts";
import { until } from "../../../waiting.ts";
import { addVoice, deleteVoice, VOICES, voiceWav, wavOf } from "../forms.ts";
import {
  frameGate,
  recordingTones,
  startForTest,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "../start.ts";
import type { Reply } from "../wire.ts";

const log: string[] = [];
const logger = pino({ level: "trace" }, { write: (line: string) => void log.push(line) });
const scripts: Script[] = [];
/** Two servers with one store. */
let server: TestServer;
let twin: TestServer;

const start = (options: TestServerOptions = {}): Promise<TestServer> =>
  startTestServer({ checkpoints: [recordingTones(scripts)], logger, ...options });

before(async () => {
  const store = memoryStore();
  server = await start({ store });
  twin = await start({ store });
});
after(async () => {
  await twin.stop();
  await server.stop();
});
beforeEach(async () => {
  for (const { keyId, voiceId } of await server.tenancy.voices.listVoices())
    await server.tenancy.voices.removeVoice(keyId, voiceId);
  scripts.splice(0);
});

const speak = (voice: unknown, on = server, key = server.key): Promise<Reply> => {
  const body = { input: "Hi.", voice, response_format: "pcm" };
  return on.post("/v1/audio/speech", body, { Authorization: `Bearer ${key}` });
};
const statusesOf = async (replies: readonly Promise<Reply>[]): Promise<number[]> =>
  (await Promise.all(replies)).map(({ status }) => status).sort();
const errorOf = async (reply: Reply) => {
  const { error } = await reply.json();
  return [reply.status, error.param ?? null, error.message] as const;
};
const ownIds = async (on = server, key = on.key): Promise<string[]> => {
  const { data } = await (await on.get(VOICES, { Authorization: `Bearer ${key}` })).json();
  return data.flatMap(({ id, owner }: { id: string; owner: string }) => (owner === "key" ? [id] : []));
};

async function refused(reply: Reply, status: number, param: string | null, message: RegExp): Promise<void> {
  const [actual, field, text] = await errorOf(reply);
  assert.deepEqual([actual, field], [status, param], text);
  assert.match(text, message);
}

/** The text and length of the recording that the last script speaks with. */
function sampleSpoken(): { readonly text: string | null; readonly durationS: number } {
  const [part] = scripts.at(-1)?.voice ?? [];
  assert.ok(part !== undefined && "sample" in part);
  return { text: part.sample.text, durationS: part.sample.clip.durationS };
}

/** A request for every field that takes a voice. */
const requestsWith = (voice: unknown): [path: string, body: object][] => [
  ["/v1/audio/speech", { input: "Hi.", voice }],
  ["/v1/tts", { text: "Hi.", voice }],
  ["/v1/converse", { conversation: [{ speaker: "1", text: "Hi." }], voices: { "1": voice } }],
  ["/v1/converse/stream", { conversation: [{ text: "Hi." }], voices: { "0": voice } }],
  ["/v1/audio/telephony", { text: "Hi.", voice }],
];

describe("A person of the embedded voice", () => {
  test("is listed and spoken by name, in any case, and has a sample by it", async () => {
    const { data, voices } = await (await server.get(VOICES)).json();
    const named = EMBEDDED_VOICES.map(({ id, name }) => ({ id, name }));
    assert.deepEqual(voices.slice(0, named.length), named);
    for (const [at, { id, name, description }] of EMBEDDED_VOICES.entries()) {
      assert.deepEqual([data[at].id, data[at].name, data[at].description], [id, name, description]);
      assert.equal((await server.get(`${VOICES}/${name.toLowerCase()}/sample`)).status, 200, name);
    }
    for (const voice of ["bruno", "BRUNO", { id: "Bruno" }]) {
      for (const [path, body] of requestsWith(voice)) {
        assert.equal((await server.post(path, body)).status, 200, path);
        assert.deepEqual(scripts.at(-1)?.voice, [{ weight: 1, id: "7" }], path);
      }
    }
    const ssml = { input: '<speak><voice name="greta">Hi.</voice></speak>', voice: "maya" };
    assert.equal((await server.post("/v1/audio/speech", ssml)).status, 200);
    assert.deepEqual(scripts.at(-1)?.textVoices, { greta: { voice: [{ weight: 1, id: "2" }] } });
  });

  test("has its name before an older recording of a key, which is reached by its id", async () => {
    const { id } = await (await addVoice(server)).json();
    const [anna] = await server.tenancy.voices.listVoices();
    const maya = { ...anna!, voiceId: "voice_older", name: "Maya" };
    const audio = await server.tenancy.voices.voiceAudio(id);
    assert.equal(await server.tenancy.voices.addVoice(maya, audio!, 100), "added");
    assert.equal((await speak("Maya")).status, 200);
    assert.deepEqual([scripts.at(-1)?.speaker, scripts.at(-1)?.voice], ["0", undefined]);
    assert.equal((await speak("voice_older")).status, 200);
    assert.equal(sampleSpoken().durationS, 3);
    assert.ok((await ownIds()).includes("voice_older"));
    const deleted = await deleteVoice(server, "maya");
    assert.equal((await deleted.json()).id, "voice_older");
  });
});

describe("A custom voice", () => {
  test("is created, listed for its key, spoken and deleted", async () => {
    const reply = await addVoice(server);
    const made = await reply.json();
    assert.equal(reply.status, 200, JSON.stringify(made));
    const { id, created_at, trust, ...rest } = made;
    assert.match(id, /^voice_[0-9a-z]{24}$/);
    assert.ok(Math.abs(created_at - Date.now() / 1_000) < 60 && trust > 0.9, `${trust}`);
    assert.deepEqual(rest, {
      object: "audio.voice",
      type: "audio_sample",
      name: "Anna",
      description: "",
      consent: "She agrees.",
      ref_text: "What she says.",
      seconds: 3,
      cautions: [],
    });
    const { data, voices } = await (await server.get(VOICES)).json();
    const listed = data.find((voice: { id: string }) => voice.id === id);
    assert.deepEqual(
      [listed.name, listed.owner, listed.seconds, listed.trust, listed.models.length],
      ["Anna", "key", 3, trust, 4],
    );
    assert.deepEqual(voices.at(-1), { id, name: "Anna" });
    for (const voice of [id, "Anna", "aNNA", { id }]) {
      assert.equal((await speak(voice)).status, 200, JSON.stringify(voice));
      assert.deepEqual(sampleSpoken(), { text: "What she says.", durationS: 3 });
    }
    const gone = await deleteVoice(server, "anna");
    assert.deepEqual(await gone.json(), { id, object: "audio.voice.deleted", name: "Anna", deleted: true });
    await refused(
      await speak("Anna"),
      400,
      "voice",
      /^voice "Anna" is unknown: the voices are maya, theo, greta, /,
    );
    await refused(await deleteVoice(server, id), 404, null, /^this key has no voice "voice_/);
  });

  test("speaks through every field that takes a voice, by its name, its id or an object", async () => {
    const { id } = await (await addVoice(server)).json();
    const inQuery: [string, object] = ["/v1/audio/telephony?voice=Anna", { text: "Hi." }];
    for (const [path, body] of [...["Anna", id, { id }].flatMap(requestsWith), inQuery]) {
      const reply = await server.post(path, body);
      assert.equal(reply.status, 200, `${path} ${await reply.text()}`);
      assert.equal(sampleSpoken().durationS, 3, path);
    }
    const others = { conversation: [{ text: "Hi." }], voices: { "1": "Anna" } };
    assert.equal((await server.post("/v1/converse", others)).status, 200);
    assert.equal(scripts.at(-1)?.voice, undefined, "the voice of another speaker");
  });

  test("has a sample at its own address, metered like speech", async () => {
    await addVoice(server);
    const { data } = await (await server.get(VOICES)).json();
    for (const { id, sample } of data) {
      const { requests } = await server.usage();
      scripts.splice(0);
      const reply = await server.get(sample);
      assert.deepEqual([reply.status, reply.headers.get("content-type")], [200, "audio/mpeg"], id);
      assert.ok((await reply.arrayBuffer()).byteLength > 1_000, id);
      assert.equal((await server.usage()).requests, requests + 1);
    }
    assert.equal(sampleSpoken().durationS, 3, "the last of them");
    const own = data.at(-1).sample;
    assert.equal((await server.get(own, {})).status, 401);
    const { auth } = await server.another();
    await refused(await server.get(own, auth), 400, "voice", /^voice "voice_.*" is unknown/);
    const head = await fetch(server.url + own, { method: "HEAD", headers: { "X-API-Key": server.key } });
    assert.notEqual(head.status, 200);
    assert.equal((await server.get(`${VOICES}/0/sample?model=a&model=b`)).status, 422);
    const escaping = await server.get(`${VOICES}/%2F..%2F/sample`);
    await refused(escaping, 400, "voice", /^voice "\/\.\.\/" is unknown/);
  });

  test("is unknown to other keys, which cannot delete it", async () => {
    const { id } = await (await addVoice(server)).json();
    const { key } = await server.another();
    await refused(await speak(id, server, key), 400, "voice", /^voice "voice_.*" is unknown/);
    await refused(await speak("Anna", server, key), 400, "voice", /^voice "Anna" is unknown/);
    await refused(await deleteVoice(server, id, key), 404, null, /has no voice/);
    assert.deepEqual([await ownIds(server, key), await ownIds()], [[], [id]]);
    const { data } = await (await server.get(VOICES, {})).json();
    const ids = data.map((voice: { id: string }) => voice.id);
    assert.deepEqual(
      ids,
      EMBEDDED_VOICES.map(({ id }) => id),
      "none without a key",
    );
    assert.equal((await addVoice(server, {}, key)).status, 200, "names are each key's own");
  });

  test("exists at once on every server of the database, and so does its deletion", async () => {
    const { id } = await (await addVoice(server)).json();
    for (const on of [twin, server]) assert.equal((await speak("Anna", on)).status, 200);
    assert.deepEqual(await ownIds(twin, server.key), [id]);
    assert.equal((await deleteVoice(twin, id, server.key)).status, 200);
    for (const on of [server, twin]) {
      await refused(await speak(id, on), 400, "voice", /is unknown/);
      assert.deepEqual(await ownIds(on, server.key), []);
    }
  });

  test("finishes its utterance when it is deleted meanwhile", async (t) => {
    const gate = frameGate((index) => index >= 3);
    const own = await startForTest(t, { tone: gate.tone });
    await addVoice(own);
    const reply = await own.post("/v1/converse/stream", {
      conversation: [{ text: "One sentence. And another one." }],
      voices: { "0": "Anna" },
    });
    const speaking = reply.text();
    await until("its speaking", async () => (await own.begun()) === 1);
    assert.equal((await deleteVoice(own, "Anna")).status, 200);
    assert.equal(await own.begun(), 1, "it is held midway");
    gate.open();
    assert.match(await speaking, /event: end/);
    await refused(await speak("Anna", own, own.key), 400, "voice", /is unknown/);
  });

  test("is refused with 422 unless it is a string or an object with an id", async () => {
    const turn = { conversation: [{ text: "Hi." }] };
    for (const [path, body, why] of [
      ["/v1/tts", { text: "Hi.", voice: 1 }, /^voice must be a string or an object$/],
      ["/v1/tts", { text: "Hi.", voice: { name: "onyx" } }, /^voice\.id is missing/],
      ["/v1/converse", { ...turn, voices: { "0": { id: 1 } } }, /^voices\["0"\]\.id must be a string$/],
      ["/v1/converse", { ...turn, voices: { "0": {} } }, /^voices\["0"\]\.id is missing/],
    ] as const) {
      const [status, , message] = await errorOf(await server.post(path, body));
      assert.equal(status, 422);
      assert.match(message, why);
    }
  });

  test("cannot be mixed, and a malformed mix is refused in every field", async () => {
    await addVoice(server);
    const wrong: [word: string, why: RegExp][] = [
      ["+", /^\S+ "\+" has a part without a name: write a mix as in nova\(2\)\+onyx\(1\)$/],
      ["()", /^\S+ "\(\)" has a part without a name/],
      ["nova(-1)+onyx", /^\S+ has the weight "-1": a weight is a number from 0\.001 to 1000$/],
      ["nova(0)+onyx(0)", /has the weight "0"/],
      [
        "Anna+nova",
        /"Anna" is unknown: .*A mix is of voices of the model \S+ alone, not of another model's or your own$/,
      ],
      ["nova+af_heart", /"af_heart" is unknown: .* alone, not of another model's or your own$/],
      ["nova+onyx", /asks for a mix, and the model \S+ speaks with one voice at a time: name one of/],
    ];
    for (const [voice, why] of wrong) {
      const inQuery: [string, object] = [
        `/v1/audio/telephony?voice=${encodeURIComponent(voice)}`,
        { text: "Hi." },
      ];
      for (const [path, body] of [...[voice, { id: voice }].flatMap(requestsWith), inQuery]) {
        const [status, , message] = await errorOf(await server.post(path, body));
        assert.equal(status, 400, `${voice}: ${message}`);
        assert.match(message, why);
      }
    }
    assert.deepEqual(scripts, []);
  });

  test("is the only kind of voice that can be deleted, by its exact name or id", async () => {
    const { id } = await (await addVoice(server)).json();
    const paths = ["nova", "0", "../keys", "Ann", "Anna ", "Anna/", "%", "\u0000", "\u3164", `${id}x`];
    for (const name of [...paths, "x".repeat(2_000)]) {
      const reply = await deleteVoice(server, name);
      assert.ok([400, 404].includes(reply.status), `${name.slice(0, 20)} ${reply.status}`);
      assert.ok((await reply.json()).error.message.length < 400);
    }
    assert.deepEqual(await ownIds(), [id]);
  });

  test("is never named in the log", async () => {
    log.splice(0);
    await addVoice(server, { name: "Marmalade", consent: "Clementine agrees.", ref_text: "Persimmon." });
    await speak("Marmalade");
    await speak("Marmalade+onyx");
    await deleteVoice(server, "Marmalade");
    await deleteVoice(server, "Marmalade");
    await addVoice(server, { name: "Marmalade/", consent: "Clementine agrees." });
    assert.ok(log.length >= 6);
    assert.doesNotMatch(log.join(""), /marmalade|clementine|persimmon/i);
  });
});

describe("A recording for a custom voice", () => {
  const hiss = (seconds: number) => Float32Array.from(noise(24_000 * seconds, 1), (each) => 0.2 * each);
  const chord = Float32Array.from({ length: 96_000 }, (_, at) =>
    [220, 277, 330].reduce((sum, hz) => sum + 0.1 * Math.sin((2 * Math.PI * hz * at) / 24_000), 0),
  );

  test("is refused without speech, too short, damaged, empty or missing", async () => {
    const cases: [Uint8Array<ArrayBuffer> | undefined, number, RegExp][] = [
      [wavOf(new Float32Array(96_000)), 400, /^audio_sample contains no speech: send 5 to 12 s of one/],
      [wavOf(hiss(4)), 400, /^audio_sample contains no speech/],
      [voiceWav({ durationS: 0.9 }), 400, /^audio_sample has 0\.9 s of sound: send 5 to 12 s/],
      [new Uint8Array(0), 400, /^audio_sample: .*it is empty/],
      [new Uint8Array(2_000).fill(7), 400, /^audio_sample: .*it is not a recording that can be read/],
      [voiceWav().subarray(0, 5_000), 400, /^audio_sample: /],
      [undefined, 422, /^audio_sample is missing: send the recording as a file in a field of that name/],
    ];
    for (const [audio_sample, status, message] of cases)
      await refused(await addVoice(server, { audio_sample }), status, "audio_sample", message);
    assert.deepEqual(await ownIds(), []);
  });

  test("is kept with cautions when it is music, two people, short, noisy or long", async () => {
    const two = mixture(syntheticVoice(), syntheticVoice({ pitchHz: 110, tract: 0.84, seed: 2 }));
    for (const [caution, audio_sample] of [
      ["unlike speech", wavOf(chord)],
      ["not one voice", wavOf(two)],
      ["short", voiceWav({ durationS: 1 })],
      ["noise", voiceWav({ roomDb: -22 })],
      ["narrow band", voiceWav({ sampleRateHz: 8_000 })],
    ] as const) {
      const { cautions } = await (await addVoice(server, { name: caution, audio_sample })).json();
      assert.ok(cautions.includes(caution), `${caution}: ${cautions}`);
    }
    const three = syntheticVoice({ sampleRateHz: 8_000 });
    const tenMinutes = Float32Array.from(
      { length: 200 * three.length },
      (_, at) => three[at % three.length]!,
    );
    const long = await (
      await addVoice(server, { name: "long", audio_sample: wavOf(tenMinutes, 8_000) })
    ).json();
    assert.deepEqual([long.seconds, long.ref_text, long.cautions.at(-1)], [30, null, "long"]);
  });

  test("is refused with an invalid or taken name, as text, or without consent", async () => {
    await addVoice(server);
    const cases: [string, RegExp][] = [
      [
        "../etc/passwd",
        /^name "\.\.\/etc\/passwd" must have none of \/ \\ \+ \( \) " and more than dots: take another$/,
      ],
      [
        "ANNA",
        /^name "ANNA" is that of another voice of this key: take another, or delete that voice first$/,
      ],
      ["Alloy", /^name "[^"]+" is that of a voice of the model svc-beta-v0\.3: take another$/],
      ["1", /^name "[^"]+" is that of a voice of the model/],
      ["maya", /^name "[^"]+" is that of a voice of the model svc-beta-v0\.3: take another$/],
      ["speaker 0", /^name "[^"]+" is that of a voice of the model/],
    ];
    for (const [name, message] of cases)
      await refused(await addVoice(server, { name }), 400, "name", message);
    const isText =
      /^audio_sample is text and no recording: send the file itself, with curl by an @ before its name, as in -F audio_sample=@voice\.wav$/;
    for (const audio_sample of ["recordings/anna one.wav", "recordings/anna", "Анна.wav\n"])
      await refused(await addVoice(server, { audio_sample }), 422, "audio_sample", isText);
    await refused(await addVoice(server, { consent: undefined }), 422, "consent", /^consent is missing/);
    assert.equal((await ownIds()).length, 1);
  });

  test("must exist for every speaker of a conversation", async () => {
    const conversation = [
      { speaker: "0", text: "Hello." },
      { speaker: "1", text: "Hi." },
    ];
    const body = (other: string) => ({ conversation, voices: { "0": other, "1": "onyx" } });
    const reply = await server.post("/v1/converse", body("Nobody"));
    assert.equal(reply.status, 400);
    assert.match((await reply.json()).error.message, /^voices\["0"\] "Nobody" is unknown: /);
    const { id } = await (await addVoice(server)).json();
    assert.equal((await server.post("/v1/converse", body("Anna"))).status, 200);
    assert.equal((await deleteVoice(server, id)).status, 200);
  });

  /** Adds copies of a voice until the key has `count`. */
  async function fill(count: number): Promise<void> {
    await addVoice(server);
    const [anna] = await server.tenancy.voices.listVoices();
    for (let at = 1; at < count; at++) {
      const voice = { ...anna!, voiceId: `voice_${at}`, name: `Voice ${at}` };
      assert.equal(await server.tenancy.voices.addVoice(voice, new Uint8Array(1), 100), "added");
    }
  }

  test("is refused when the key has 100 voices", async () => {
    await fill(100);
    await refused(await addVoice(server, { name: "One more" }), 400, null, /^this key has 100 voices/);
    const unknown = /did you mean "Anna"\? .* and 97 more, which GET \/v1\/audio\/voices lists$/;
    await refused(await speak("Annna"), 400, "voice", unknown);
  });

  test("is refused when two servers add the hundredth voice at once", async () => {
    await fill(99);
    const last = [addVoice(server, { name: "One more" }), addVoice(twin, { name: "Another" }, server.key)];
    assert.deepEqual(await statusesOf(last), [200, 400]);
    assert.equal((await ownIds()).length, 100);
  });

  test("requires a key and a form", async () => {
    assert.equal((await addVoice(server, {}, "ant_none")).status, 401);
    assert.equal((await deleteVoice(server, "Anna", "ant_none")).status, 401);
    const reply = await server.post(VOICES, { name: "Anna" });
    await refused(reply, 422, null, /^the body must be a form: .* the recording in its field audio_sample$/);
  });
});

test("A recording without ref_text is transcribed, and metered as a transcription", async (t) => {
  const recogniser = new ScriptedRecogniser();
  const own = await start({ recogniser });
  t.after(() => own.stop());
  const { ref_text, seconds } = await (await addVoice(own, { ref_text: undefined })).json();
  assert.ok(ref_text.length > 0);
  assert.deepEqual([seconds, recogniser.clips.length], [3, 1]);
  const { requests, input_audio_seconds } = await own.usage();
  assert.deepEqual([requests, input_audio_seconds], [1, 3]);
  await addVoice(own, { name: "Ben" });
  recogniser.fail(new RecogniserError("it hears nothing"));
  const failed = await (await addVoice(own, { name: "Cleo", ref_text: undefined })).json();
  assert.deepEqual([failed.name, failed.ref_text], ["Cleo", null], "added without its text");
  assert.equal((await own.usage()).requests, 1, "given text is not transcribed");
});

test("Two servers on one database agree on a voice that both create, use and delete", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-voices-shared-"));
  t.after(() => rm(folder, { recursive: true }));
  const startOne = async () => startForTest(t, { store: await libsqlStore(folder), isStoreShared: true });
  const both = [await startOne(), await startOne()];
  const [{ key, tenancy } = server] = both;
  const speakOn = (on: TestServer) => speak("Anna", on, key);

  for (let round = 0; round < 12; round++) {
    assert.deepEqual(await statusesOf(both.map((on) => addVoice(on, {}, key))), [200, 400], "created once");
    const [spoken, deleted] = await Promise.all([
      statusesOf([...both, ...both].map(speakOn)),
      statusesOf(both.map((on) => deleteVoice(on, "Anna", key))),
    ]);
    for (const status of spoken) assert.ok(status === 200 || status === 400, `spoken: ${status}`);
    assert.deepEqual(deleted, [200, 404], "deleted once");
    assert.deepEqual(await statusesOf(both.map(speakOn)), [400, 400], "deleted everywhere");
    assert.deepEqual(await tenancy.voices.listVoices(), []);
  }
});
