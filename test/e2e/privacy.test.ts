import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { it } from "node:test";
import { newApiKey } from "../../src/accounts/api-key.ts";
import type { Reply } from "../api/http/wire.ts";
import { within } from "../waiting.ts";
import { clientOf, okay } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { makeKeys } from "./make-keys.ts";
import { antiphon } from "./program.ts";
import { startServerProcess } from "./server-process.ts";

const WORD = "Zanzibarbados";
const SPOKEN = `${WORD} is where the ${WORD} people sing.`;
const UNKNOWN_KEY = newApiKey();
const MISTYPED_KEY = `${newApiKey().slice(0, -1)}!`;

/** Provokes every status that a client can without breaking the server. */
async function everyStatus(url: string, key: string, slowKey: string): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  const ask = async (
    path: string,
    init: RequestInit = {},
    auth: Record<string, string> = { "X-API-Key": key },
  ) => {
    const headers = { "Content-Type": "application/json", ...auth };
    const response: Reply = await fetch(url + path, { ...init, headers });
    await response.text();
    seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
  };
  const post = (path: string, body: unknown, auth?: Record<string, string>) =>
    ask(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }, auth);

  await post("/v1/tts", { text: SPOKEN, model: WORD });
  await post("/v1/tts", { text: SPOKEN, speaker: WORD });
  await post("/v1/converse", {
    conversation: [{ audio_wav_b64: `data:audio/wav;base64,${btoa(WORD)}` }, {}],
  });
  await ask(`/v1/usage?api_key=${UNKNOWN_KEY}`, {}, {});
  await ask(`/v1/usage?api_key=${key}`, {}, {});
  await post("/v1/tts", { text: SPOKEN }, { Authorization: `Bearer ${UNKNOWN_KEY}` });
  await post("/v1/tts", { text: SPOKEN }, { Authorization: `Basic ${btoa(`${key}:${key}`)}` });
  await post("/v1/tts", { text: SPOKEN }, { "X-API-Key": MISTYPED_KEY });
  await ask(`/v1/${WORD}?text=${WORD}&key=${key}`);
  await ask(`/%${WORD}?key=${key}`);
  await ask(`/v1/tts?text=${WORD}&api_key=${key}`);
  await post("/v1/tts", `{"text": "${SPOKEN}", ${WORD}`);
  await post("/v1/tts", { text: [SPOKEN] });
  await post("/v1/tts", { text: SPOKEN, params: { temperature: WORD } });
  await ask("/v1/tts", { method: "POST", body: SPOKEN }, { "X-API-Key": key, "Content-Type": "text/plain" });
  for (let i = 0; i < 2; i++) await post("/v1/tts", { text: SPOKEN }, { "X-API-Key": slowKey });
  await post("/v1/converse", { conversation: [{ text: SPOKEN }, { speaker: "1" }], instructions: SPOKEN });
  await post("/v1/converse", { conversation: [{ text: SPOKEN }], instructions: SPOKEN.repeat(50) });
  await post("/v1/audio/speech", { model: "tts-1", input: SPOKEN, voice: "alloy", instructions: WORD });
  await post("/v1/audio/speech", { model: WORD, input: SPOKEN, voice: WORD, response_format: WORD });
  return seen;
}

/** Sends what no HTTP parser accepts. */
async function garbage(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.end(`${WORD} ${UNKNOWN_KEY}\r\n\r\n`).resume();
  await within("the server to close", once(socket, "close"));
}

it("onnxruntime's telemetry is off: it keeps no device id", async () => {
  const home = temporaryFolder();
  const said = await antiphon(["say", "Tea.", "-o", join(home, "tea.wav")], { env: { HOME: home } });
  assert.equal(said.code, 0, said.stderr);
  assert.equal(existsSync(join(home, ".cache/Microsoft")), false);
});

it("no text, audio or key is in the log, and every line is JSON with its request id", async () => {
  const dataDir = join(temporaryFolder(), "data");
  const [{ key }] = (await makeKeys(dataDir, 1)) as [{ key: string }, ...unknown[]];
  const [slow] = await makeKeys(dataDir, 1, { rpm: 1, burst: 1 });
  const server = await startServerProcess({
    dataDir,
    env: { ANTIPHON_LOG_LEVEL: "trace" },
    before: "ulimit -f 64",
  });
  const client = clientOf(server.url, key);

  const spoken = await okay(await client.post("/v1/tts", { text: SPOKEN }));
  const heard: string = spoken.audio.data_b64;
  const answered = await okay(
    await client.post("/v1/converse", {
      conversation: [
        { text: SPOKEN, audio_wav_b64: heard },
        { speaker: "1", text: SPOKEN },
      ],
    }),
  );
  const frames: string[] = [];
  for await (const { event, data } of client.stream({ conversation: [{ text: SPOKEN }] }))
    if (event === "audio") frames.push(data.pcm_b64);
  const left = client.stream({ conversation: [{ text: SPOKEN.repeat(20) }] });
  for (let i = 0; i < 3; i++) await left.next();
  await left.return();
  const statuses = await everyStatus(server.url, key, slow?.key ?? "");
  await garbage(server.url);
  // A full disk logs unforeseen errors in most detail.
  let response: Reply;
  do response = await client.post("/v1/tts", { text: SPOKEN });
  while (response.status === 200 && (await response.text()) !== "");
  statuses.set(response.status, 1);
  assert.deepEqual([...statuses.keys()].sort(), [200, 400, 401, 404, 405, 422, 429, 500, 502]);
  await server.stop();

  const log = server.stdout() + server.stderr();
  const secrets: Record<string, string> = {
    key,
    "a slow key": slow?.key ?? "",
    "an unknown key": UNKNOWN_KEY,
    "a mistyped key": MISTYPED_KEY,
    "a key in Basic": btoa(`${key}:${key}`),
    "a text": WORD,
    "a text in base64": btoa(WORD).slice(0, 12),
    "audio sent": heard.slice(400, 460),
    "audio in one piece": answered.reply.audio.data_b64.slice(4_000, 4_060),
    "audio of a stream": frames[2]?.slice(0, 60) ?? "",
  };
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 12, what);
    assert.ok(!log.toLowerCase().includes(secret.toLowerCase()), `${what} is in the log`);
  }
  const lines = server
    .stderr()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg?: string; request_id?: string; status?: number });
  const requests = lines.filter(({ msg }) => msg === "request");
  assert.ok(requests.length > 20, `${requests.length} lines tell of requests`);
  for (const { request_id, status } of requests) {
    assert.match(request_id ?? "", /^req_[0-9a-f]{24}$/);
    assert.equal(typeof status, "number");
  }
  for (const status of statuses.keys())
    assert.ok(
      requests.some((line) => line.status === status),
      `${status}`,
    );
  const ids = requests.map(({ request_id }) => request_id);
  assert.equal(new Set(ids).size, ids.length, "one line a request");
  assert.ok(ids.includes(spoken.request_id));
});
