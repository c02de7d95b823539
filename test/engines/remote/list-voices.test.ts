import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { ModelVoice } from "../../../src/core/model-card.ts";
import { cacheVoices, listVoices, MAX_LISTED_VOICES } from "../../../src/engines/remote/list-voices.ts";
import { type Answer, bytes, json, refusal, SpeechServer } from "./speech-server.ts";

const server = await SpeechServer.open();
const other = await SpeechServer.open();
after(() => Promise.all([server.close(), other.close()]));

const OPTIONS = { kind: "openai", urls: [server.url], model: "tts-1", apiKey: "the-key" } as const;

async function listed(
  answer: Answer,
  more: Partial<Parameters<typeof listVoices>[0]> = {},
  deadlineMs = 20_000,
): Promise<readonly ModelVoice[]> {
  server.answers(answer);
  return listVoices({ ...OPTIONS, ...more }, deadlineMs);
}

const ids = (voices: readonly ModelVoice[]): string[] => voices.map(({ id }) => id);

describe("listVoices", () => {
  test("requests the list with the key", async () => {
    assert.deepEqual(await listed(json({ voices: ["af_heart"] })), [
      {
        id: "af_heart",
        name: "af_heart",
        sex: null,
        language: null,
        description: "The server's voice “af_heart”.",
        aliases: [],
      },
    ]);
    const [{ request } = assert.fail("no request")] = server.asked;
    assert.deepEqual(
      [request.method, request.url, request.headers.authorization],
      ["GET", "/v1/audio/voices", "Bearer the-key"],
    );
  });

  test("reads every common format, without duplicates", async () => {
    const forms = [
      { voices: ["a", "b", "A", "a"] },
      { voices: [{ id: "a", name: "The first" }, { name: "b" }, null, 3, {}, { id: 4 }, ["c"]] },
      { voices: "none", data: [{ voice_id: "a" }, { voice_id: "b" }] },
      [{ voice_id: "a" }, { voice_id: "b" }, { voice_id: "" }, { voice_id: "x".repeat(2_000) }],
    ];
    for (const form of forms) assert.deepEqual(ids(await listed(json(form))), ["a", "b"]);
  });

  test("reads the voices of another Antiphon's model, with their descriptions", async () => {
    const voice = (id: string, models: readonly string[], more: object = {}) => ({
      ...{ id, name: `Voice ${id}`, description: "Warm.", aliases: ["ash"], sex: "male", accent: "en-GB" },
      ...{ models, owner: "model" },
      ...more,
    });
    const data = [
      voice("0", ["large", "small"]),
      voice("2", ["large"], { sex: 7, accent: "x".repeat(99), description: "y".repeat(9_999) }),
      voice("3", ["small"]),
      voice("voice_abc", ["large"], { name: "Anna", owner: "key" }),
    ];
    const list = json({ data, voices: [{ id: "3", name: "Voice 3" }] });
    const large = await listed(list, { kind: "antiphon", model: "large" });
    assert.deepEqual(
      large.map(({ id, name, sex, language, aliases }) => [id, name, sex, language, aliases.length]),
      [
        ["0", "Voice 0", "male", "en-GB", 0],
        ["2", "Voice 2", null, null, 0],
        ["Anna", "Anna", "male", "en-GB", 0],
      ],
    );
    assert.deepEqual(
      large.map(({ description }) => description),
      ["Warm.", "The server's voice “2”.", "Warm."],
    );
    assert.deepEqual(ids(await listed(list, { kind: "antiphon", model: null })), ["3"]);
  });

  test("is empty for a missing, long, endless, late or broken list", async () => {
    const many = Array.from({ length: MAX_LISTED_VOICES + 50 }, (_, at) => `voice ${at}`);
    assert.equal((await listed(json({ voices: many }))).length, MAX_LISTED_VOICES);
    const silent: Answer = () => {};
    const begun: Answer = ({ response }) => void response.writeHead(200).write('{"voices":["a"');
    const endless: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (response.writable && response.write(Buffer.alloc(65_536, 0x20)));
        response.once("drain", more);
      };
      more();
    };
    const cases: readonly [answer: Answer, deadlineMs?: number][] = [
      [refusal(404)],
      [refusal(302, { location: other.url })],
      [refusal(500)],
      [bytes(Buffer.from("<html>"), "text/html")],
      [bytes(Buffer.from('{"voices":["a"'), "application/json")],
      [json(null)],
      [json("voices")],
      [json({ voices: { a: 1 } })],
      [bytes(Buffer.from("[".repeat(200_000)), "application/json")],
      [({ response }) => void response.destroy()],
      [endless],
      [silent, 30],
      [begun, 30],
    ];
    for (const [answer, deadlineMs] of cases) assert.deepEqual(await listed(answer, {}, deadlineMs), []);
    assert.equal(other.asked.length, 0);
  });

  test("tries the next address after a failure", async () => {
    other.answers(json({ voices: ["b"] }));
    const urls = [server.url, other.url];
    assert.deepEqual(ids(await listed(refusal(500), { urls })), ["b"]);
    assert.deepEqual(ids(await listed(() => {}, { urls }, 1_000)), ["b"]);
  });
});

describe("cacheVoices", () => {
  const voice = (id: string): ModelVoice => ({
    ...{ id, name: id, sex: null, language: null },
    ...{ description: "", aliases: [] },
  });

  test("requests once for all callers, and again after a minute", async () => {
    let nowMs = 0;
    let times = 0;
    const voices = cacheVoices(
      async () => {
        times += 1;
        return [voice(`${times}`)];
      },
      () => nowMs,
    );
    const all = await Promise.all(Array.from({ length: 20 }, voices));
    assert.deepEqual([times, all.flatMap(ids)], [1, Array(20).fill("1")]);
    nowMs = 59_999;
    assert.deepEqual([ids(await voices()), times], [["1"], 1]);
    nowMs = 60_000;
    assert.deepEqual(ids(await voices()), ["1"], "does not wait for the refresh");
    assert.equal(times, 2);
    await turn();
    assert.deepEqual(ids(await voices()), ["2"]);
  });

  test("is empty while requests fail", async () => {
    const voices = cacheVoices(() => Promise.reject(new Error("no")));
    assert.deepEqual([await voices(), await voices()], [[], []]);
  });
});
