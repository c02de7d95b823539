import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { TOP } from "../architecture/top.ts";
import { SERVICE_LINKS } from "../settings/service-links.ts";
import { runAntiphon } from "./run-antiphon.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "antiphon-variables-"));
});
after(() => rm(folder, { recursive: true }));

it("an error names the setting as the settings write it", async () => {
  const remote = { kind: "antiphon", urls: ["http://127.0.0.1:1/v1"], keyFile: join(folder, "no-such-key") };
  const { code, stderr } = await runAntiphon(["say", "Tea."], {
    env: { ANTIPHON_CHECKPOINTS: JSON.stringify({ farm: { remote } }) },
  });
  assert.match(stderr, /^checkpoints\.farm\.remote\.keyFile \(.*no-such-key\) does not exist\.\n$/);
  assert.equal(code, 1);
});

describe("a command in a container next to a service named antiphon", { concurrency: 2 }, () => {
  const surroundings = { ...SERVICE_LINKS, ANTIPHON_KEY: "ant_of-a-client" };
  const oneWarning = /^Passed over, [^\n]*ANTIPHON_PORT, [^\n]*\.\n$/;
  const calls: readonly [line: string[], prints: RegExp][] = [
    [["keys", "create", "--label", "team", "--json"], /^\{"key":"ant_[^\n]*\}\n$/],
    [["say", "Tea."], /^RIFF/],
  ];
  for (const [line, prints] of calls) {
    it(`runs ${line[0]}, and warns once on standard error`, async () => {
      const at = ["--data-dir", join(folder, line[0] ?? "")];
      const { code, stdout, stderr } = await runAntiphon([...line, ...at], { env: surroundings });
      assert.match(stderr, oneWarning);
      assert.ok(!stderr.includes("ant_"), "and no key");
      assert.match(stdout, prints);
      assert.equal(code, 0);
    });
  }

  it("reads its settings in one place", () => {
    const readers = ["cli", "server"]
      .flatMap((room) =>
        readdirSync(join(TOP, "src", room), { recursive: true, encoding: "utf8" }).map((name) =>
          join(room, name),
        ),
      )
      .filter((name) => name.endsWith(".ts"))
      .filter((name) => /\bloadSettings\(/.test(readFileSync(join(TOP, "src", name), "utf8")));
    assert.deepEqual(readers, [join("cli", "terminal", "global-options.ts")]);
  });
});
