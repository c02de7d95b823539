import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { launch } from "../children.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { until } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon, finished, newcomersEnvironment } from "./program.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { assertSpeech } from "./speech.ts";

describe("a new installation", () => {
  it("prints a key and a command that speaks, once, and a link for the key in ANTIPHON_KEY", async () => {
    const dataDir = join(temporaryFolder(), "not", "there", "yet");
    const server = await startServerProcess({ dataDir });
    assert.match(
      server.stdout(),
      /^API key, shown this once: ant_[0-9A-Za-z]{38}\nAntiphon is listening on http:\/\/127\.0\.0\.1:\d+\nTalk: http:\/\/127\.0\.0\.1:\d+\/#secret=ek_[0-9a-f]{48}\nTry it:\n {2}curl [^\n]*\n$/,
    );
    const pasted = /^ {2}(curl .*)$/m.exec(server.stdout())?.[1] ?? "";
    const cwd = temporaryFolder();
    const shell = await finished(launch("bash", ["-c", pasted], { cwd, env: newcomersEnvironment() }));
    assert.deepEqual([shell.code, shell.stderr], [0, ""]);
    assertSpeech(readFileSync(join(cwd, "hello.wav")));
    assert.equal((await clientOf(server.url, server.key).usage()).requests, 1);

    const again = await startServerProcess({ dataDir });
    await until("the command", () => again.stdout().includes("keys create"));
    assert.match(
      again.stdout(),
      /^Antiphon is listening on (http:\/\/127\.0\.0\.1:\d+)\nTalk: \1\/\nKeys: .* run npx antiphon keys create --label NAME --data-dir ".*yet"\n$/,
    );
    assert.equal((await again.stop()).code, 0);

    const linked = await startServerProcess({ dataDir, env: { ANTIPHON_KEY: server.key } });
    await until("the link", () => /^Talk: http:\S+\/#secret=ek_[0-9a-f]{48}$/m.test(linked.stdout()));
    assert.equal((await clientOf(linked.url, server.key).usage()).requests, 1);
    assert.equal((await linked.stop()).code, 0);

    await managesKeys(server);
    assert.equal((await server.stop()).code, 0);
  });

  it("prints a fresh link, how to make a key, and what writes replies at every start in a terminal", async () => {
    const dataDir = join(temporaryFolder(), "data");
    const env = { NODE_OPTIONS: "--import=data:text/javascript,process.stdout.isTTY=true" };
    const links: (string | undefined)[] = [];
    for (const keys of [
      /^API key, shown this once: ant_\w+$/m,
      /^Keys: .* npx antiphon keys create --label NAME/m,
    ]) {
      const server = await startServerProcess({ dataDir, env });
      await until("all lines", () => /^Ready: [\s\S]*writes replies/m.test(server.stdout()));
      const shown = server.stdout();
      assert.match(shown, keys);
      assert.match(shown, /^Antiphon is listening on http:\S+$/m);
      assert.equal(shown.match(/^Nothing writes replies: .*$/gm)?.length, 1, shown);
      links.push(/^Talk: http:\S+\/#secret=(ek_[0-9a-f]{48})$/m.exec(shown)?.[1]);
      assert.equal((await server.stop()).code, 0);
    }
    assert.ok(links.every((link) => link !== undefined));
    assert.notEqual(links[0], links[1]);
  });

  it("puts its data directory into the home directory", async () => {
    const home = temporaryFolder();
    const create = ["keys", "create", "--label", "me", "--json"];
    const { code, stdout } = await antiphon(create, { env: { HOME: home } });
    assert.equal(code, 0);
    assert.match(JSON.parse(stdout).key, /^ant_/);
    const files = readdirSync(home, { recursive: true }).map(String);
    assert.ok(
      files.some((file) => file.endsWith("antiphon.db")),
      files.join(),
    );
  });
});

/** Checks that a running server honours keys that commands create and revoke, and that commands see its usage. */
async function managesKeys(server: ServerProcess): Promise<void> {
  const at = ["--json", "--data-dir", server.dataDir];
  const create = ["keys", "create", "--label", "team", "--rpm", "7", "--burst", "3", ...at];
  const made = JSON.parse((await runAntiphon(create)).stdout);
  const client = clientOf(server.url, made.key);
  const spoken = await client.post("/v1/tts", { text: "Good morning." });
  assert.equal(spoken.status, 200);
  assert.equal(spoken.headers.get("x-ratelimit-limit"), "7");
  assert.equal(spoken.headers.get("x-ratelimit-remaining"), "2");
  const { usage } = await spoken.json();
  const total = JSON.parse((await antiphon(["usage", made.key_id, ...at])).stdout);
  assert.deepEqual(total, await client.usage());
  assert.deepEqual(
    [total.requests, total.input_chars, total.output_audio_seconds],
    [1, usage.input_chars, usage.output_audio_seconds],
  );
  const listed = JSON.parse((await runAntiphon(["keys", "list", ...at])).stdout);
  const labels = listed.map(({ label }: { label: string }) => label);
  assert.deepEqual(labels, ["first key", "team"]);
  const revoke = ["keys", "revoke", made.key_id, "--data-dir", server.dataDir];
  assert.equal((await runAntiphon(revoke)).code, 0);
  assert.equal((await client.get("/v1/usage")).status, 401);
  assert.equal((await clientOf(server.url, server.key).get("/v1/usage")).status, 200);
}
