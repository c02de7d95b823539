import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import pino from "pino";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { startTestServer } from "../http/start.ts";
import { WyomingClient } from "./client.ts";

test("the log has a line for each request, with neither words nor the key in it, and one for what fails inside, and the metrics count it", async () => {
  let log = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  let isBroken = false;
  const canHear = () => {
    if (isBroken) throw new TypeError("marmalade\n    at breakfast");
    return true;
  };
  const options = { wyoming: true, recogniser: new ScriptedRecogniser(), canHear, logger: pino({}, sink) };
  const server = await startTestServer(options);
  const open = () => WyomingClient.open(server.wyomingUrl!);
  const client = await open();
  client.send("synthesize", { text: "Marmalade." });
  await client.upTo("audio-stop");
  client.send("synthesize-start");
  client.send("synthesize-chunk", { text: "Marmalade again." });
  client.send("synthesize-stop");
  await client.upTo("synthesize-stopped");
  client.send("audio-chunk", { rate: 16_000, width: 2, channels: 1 }, new Uint8Array(16_000));
  client.send("audio-stop");
  await client.upTo("transcript");
  client.send("synthesize", { text: "Marmalade.", voice: { name: "Marmalade" } });
  await client.rest();
  const garbage = await open();
  garbage.socket.write("Marmalade\n");
  await garbage.rest();
  isBroken = true;
  const failing = await open();
  failing.send("describe");
  assert.equal((await failing.rest())[0]?.data.code, "internal_error");
  const count = (route: string, end: string, type: string) =>
    server.metric(`requests_ended_total{route="wyoming:${route}",end="${end}",type="${type}"}`);
  assert.equal(await count("synthesize", "finished", "none"), 2);
  assert.equal(await count("transcribe", "finished", "none"), 1);
  assert.equal(await count("synthesize", "failed", "invalid_request"), 1);
  assert.equal(await server.metric('wyoming_events_total{outcome="taken"}'), 6);
  assert.equal(await server.metric('wyoming_events_total{outcome="refused"}'), 3);
  await server.stop();
  const all = log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const lines = all.filter(({ msg, route }) => msg === "request" && route.startsWith("wyoming:"));
  assert.deepEqual(
    lines.map(({ route, end, error, key_id }) => [route, end, error, key_id]),
    [
      ["wyoming:synthesize", "finished", undefined, server.keyId],
      ["wyoming:synthesize", "finished", undefined, server.keyId],
      ["wyoming:transcribe", "finished", undefined, server.keyId],
      ["wyoming:synthesize", "failed", "invalid_request", server.keyId],
    ],
  );
  const [failed, ...others] = all.filter(({ level }) => level === 50);
  assert.deepEqual([failed.msg, failed.err.type, others], ["wyoming connection failed", "TypeError", []]);
  assert.match(failed.err.stack, /^ {4}at .*canHear /);
  assert.doesNotMatch(log, /marmalade|one way|ant_/i);
});
