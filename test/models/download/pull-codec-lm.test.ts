import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { LicenceQuestion } from "../../../src/models/download/accepted-licences.ts";
import type { PullEvent, PullOptions } from "../../../src/models/download/options.ts";
import { removeCheckpoint, stagingDir } from "../../../src/models/download/pull.ts";
import { pullCodecLm } from "../../../src/models/download/pull-codec-lm.ts";
import { codecLmRecord, installedCodecLmDir } from "../../../src/models/installation-records.ts";
import { inspectCheckpoint } from "../../../src/models/installed-checkpoint.ts";
import { findCodecLm, KNOWN_CODEC_LMS } from "../../../src/models/known-hub-models.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { withFullDisk } from "../../full-disk.ts";
import {
  breakOff,
  COMMIT,
  type FakeHub,
  type FakeRepository,
  fakeHub,
  type HubAnswer,
  LATER_COMMIT,
  send,
} from "./fake-hub.ts";
import { HASTY, WEIGHTS } from "./fixture.ts";

const CSM = findCodecLm("csm-1b")!;
const QWEN = findCodecLm("qwen3-tts-0.6b")!;

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const SHARDS = [
  "transformers-00001-of-00002.safetensors",
  "transformers-00002-of-00002.safetensors",
] as const;
const INDEX = "transformers.safetensors.index.json";
const SECOND_SHARD = Buffer.alloc(40_000, "b");

/** The layout of the published repository, with three copies of the weights. */
const CSM_FILES: Readonly<Record<string, Buffer>> = {
  "config.json": json({ model_type: "csm", transformers_weights: INDEX }),
  "generation_config.json": json({}),
  "tokenizer.json": json({ tokens: "many" }),
  "tokenizer_config.json": json({}),
  "ckpt.pt": Buffer.alloc(9_000, "c"),
  "model.safetensors": Buffer.alloc(9_000, "m"),
  [INDEX]: json({ weight_map: { a: SHARDS[0], b: SHARDS[1], c: SHARDS[0] } }),
  [SHARDS[0]]: WEIGHTS,
  [SHARDS[1]]: SECOND_SHARD,
  "prompts/conversational_a.wav": Buffer.alloc(500, "w"),
};
const CSM_TAKEN = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  INDEX,
  ...SHARDS,
].sort();
const SMALL = Object.keys(CSM_FILES).filter((path) => path.endsWith(".json"));

const QWEN_FILES: Readonly<Record<string, Buffer>> = {
  "config.json": json({ model_type: "qwen3_tts" }),
  "generation_config.json": json({}),
  "vocab.json": json({}),
  "merges.txt": Buffer.from("#version: 0.2\n"),
  "tokenizer_config.json": json({}),
  "preprocessor_config.json": json({}),
  "model.safetensors": WEIGHTS,
  "speech_tokenizer/config.json": json({ a: 1 }),
  "speech_tokenizer/configuration.json": json({ b: 1 }),
  "speech_tokenizer/model.safetensors": SECOND_SHARD,
};

async function csmHub(): Promise<{ hub: FakeHub; repository: FakeRepository }> {
  const hub = await fakeHub();
  const repository = hub.repository(CSM.repository, { ...CSM_FILES });
  repository.inGit = SMALL;
  return { hub, repository };
}

interface Attempt {
  /** The outcome, or the error message. */
  readonly end: string;
  readonly questions: readonly LicenceQuestion[];
  readonly events: readonly PullEvent[];
  readonly dataDir: string;
  /** Files in the checkpoint's and in the staging folder; `null` if there is none. */
  readonly left: readonly string[] | null;
  readonly begun: readonly string[] | null;
}

interface Circumstances extends Omit<Partial<PullOptions>, "env" | "times"> {
  readonly known?: typeof CSM;
  readonly answer?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

async function pull(hub: FakeHub, given: Circumstances = {}): Promise<Attempt> {
  const { known = CSM, dataDir = temporaryFolder(), answer = true, env = {}, ...options } = given;
  const questions: LicenceQuestion[] = [];
  const events: PullEvent[] = [];
  const end = await pullCodecLm(known, {
    ...options,
    dataDir,
    times: HASTY,
    env: { HF_ENDPOINT: hub.endpoint, ...env },
    observe: (event) => {
      events.push(event);
      options.observe?.(event);
    },
    acceptLicence: async (question) => {
      questions.push(question);
      return answer;
    },
  }).catch((error: Error) => error.message);
  return {
    end,
    questions,
    events,
    dataDir,
    left: filesIn(join(dataDir, "checkpoints", known.name)),
    begun: filesIn(stagingDir(known, dataDir)),
  };
}

async function stateIn(dataDir: string): Promise<string> {
  return (await inspectCheckpoint(await codecLmRecord(CSM, dataDir), dataDir)).state;
}

function filesIn(folder: string): string[] | null {
  if (!existsSync(folder)) return null;
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

/** Handles downloads of one path. */
function serving(
  path: string,
  answer: (response: ServerResponse, bytes: Buffer, from: number) => void,
): FakeRepository["serve"] {
  return (response, bytes, from, request) => {
    if (request.url?.endsWith(`/${path}`) !== true) return false;
    answer(response, bytes, from);
    return true;
  };
}

describe("a codec language model on the hub", () => {
  it("is installed with the files that its configuration names, without other copies of the weights", async () => {
    const { hub } = await csmHub();
    const { end, left, begun, dataDir } = await pull(hub);
    assert.deepEqual([end, left, begun], ["installed", [...CSM_TAKEN, "hub.json"].sort(), null]);
    const folder = await installedCodecLmDir(dataDir, "csm-1b");
    assert.equal(folder, join(dataDir, "checkpoints", "csm-1b"));
    for (const path of CSM_TAKEN) assert.ok(readFileSync(join(folder!, path)).equals(CSM_FILES[path]!), path);
    const asked = hub.asked.filter((path) => !path.startsWith("/api/"));
    assert.ok(asked.every((path) => path.startsWith(`/${CSM.repository}/resolve/${COMMIT}/`)));
    assert.equal(new Set(asked).size, asked.length, "nothing is fetched twice");
    assert.equal(asked.length, CSM_TAKEN.length);
  });

  it("keeps its subfolders, and reports the path of a truncated or missing file", async () => {
    const hub = await fakeHub();
    hub.repository(QWEN.repository, { ...QWEN_FILES });
    const { end, left, dataDir } = await pull(hub, { known: QWEN });
    assert.deepEqual([end, left], ["installed", [...Object.keys(QWEN_FILES), "hub.json"].sort()]);
    assert.notEqual(await installedCodecLmDir(dataDir, QWEN.name), null);
    assert.equal(await installedCodecLmDir(dataDir, "csm-1b"), null);
    const inspected = async () => inspectCheckpoint(await codecLmRecord(QWEN, dataDir), dataDir);
    const weights = join(dataDir, "checkpoints", QWEN.name, "speech_tokenizer", "model.safetensors");
    truncateSync(weights, 7);
    assert.equal(
      (await inspected()).problem,
      `The weights of qwen3-tts-0.6b are damaged (${weights} has 7 bytes instead of 40000): ` +
        "run antiphon models pull qwen3-tts-0.6b.",
    );
    rmSync(weights);
    const { state, problem } = await inspected();
    assert.deepEqual([state, problem?.includes(`(${weights} does not exist)`)], ["damaged", true]);
  });

  it("accepts weights in one file or in an unnamed index", async () => {
    const { hub, repository } = await csmHub();
    hub.move(repository, COMMIT, { ...CSM_FILES, "config.json": json({}) });
    const one = await pull(hub);
    assert.ok(one.left?.includes("model.safetensors") && !one.left.includes(SHARDS[0]), one.end);
    const { "model.safetensors": _, ...rest } = CSM_FILES;
    const files = { ...rest, "config.json": json({}), "model.safetensors.index.json": CSM_FILES[INDEX]! };
    hub.move(repository, LATER_COMMIT, files);
    const several = await pull(hub);
    assert.ok(
      several.left?.includes("model.safetensors.index.json") && several.left.includes(SHARDS[1]),
      several.end,
    );
  });

  it("is verified by its bytes and not fetched again if it is installed", async () => {
    const { hub, repository } = await csmHub();
    const { dataDir } = await pull(hub);
    hub.move(repository, LATER_COMMIT, { "config.json": json({}) });
    const asked = hub.asked.length;
    const { end, questions } = await pull(hub, { dataDir });
    assert.deepEqual([end, questions, hub.asked.length], ["already-installed", [], asked]);
  });

  it("is repaired at its commit, fetching only the damaged file", async () => {
    const { hub, repository } = await csmHub();
    const { dataDir } = await pull(hub);
    hub.move(repository, LATER_COMMIT, { "config.json": json({}) });
    const shard = join(dataDir, "checkpoints", "csm-1b", SHARDS[1]);
    const asked = hub.asked.length;
    for (const damage of [
      () => truncateSync(shard, 100),
      () => writeFileSync(shard, Buffer.alloc(SECOND_SHARD.length, "x")),
    ]) {
      damage();
      const { end, events } = await pull(hub, { dataDir });
      assert.equal(end, "installed");
      assert.ok(events.some((event) => event.kind === "damaged" && event.problem.includes(SHARDS[1])));
      assert.ok(readFileSync(shard).equals(SECOND_SHARD));
    }
    const again = `/${CSM.repository}/resolve/${COMMIT}/${SHARDS[1]}`;
    assert.deepEqual(hub.asked.slice(asked), [again, again]);
  });

  it("is damaged without a valid hub.json, and its intact files are kept", async () => {
    const { hub } = await csmHub();
    const { dataDir } = await pull(hub);
    writeFileSync(join(dataDir, "checkpoints", "csm-1b", "hub.json"), "{");
    assert.equal(await stateIn(dataDir), "damaged");
    assert.equal(await installedCodecLmDir(dataDir, "csm-1b"), null);
    const asked = hub.asked.length;
    assert.equal((await pull(hub, { dataDir })).end, "installed");
    assert.deepEqual(hub.asked.slice(asked), [`/api/models/${CSM.repository}/revision/main`]);
  });

  it("is removed with the files of a broken pull", async () => {
    const { hub, repository } = await csmHub();
    assert.equal(await removeCheckpoint(CSM, temporaryFolder()), false);
    const { dataDir } = await pull(hub);
    assert.equal(await removeCheckpoint(CSM, dataDir), true);
    assert.equal(await stateIn(dataDir), "missing");
    repository.serve = breakOff(7, SHARDS[0]);
    assert.deepEqual((await pull(hub, { dataDir })).left, null);
    assert.equal(await removeCheckpoint(CSM, dataDir), true);
    assert.deepEqual(readdirSync(join(dataDir, "checkpoints")), []);
  });

  it("shows its licence before fetching, and asks once", async () => {
    const { hub } = await csmHub();
    const { end, questions, dataDir } = await pull(hub, { answer: false });
    assert.match(
      end,
      /^The licence of sesame\/csm-1b was not accepted \(Apache-2\.0, .*\): nothing was fetched\.$/,
    );
    assert.deepEqual([hub.asked.length, readdirSync(dataDir)], [1, []]);
    // The unused copy does not count.
    const taken = CSM_TAKEN.reduce((sum, path) => sum + CSM_FILES[path]!.length, 0);
    assert.equal(questions[0]?.sizeBytes, taken);
    assert.equal((await pull(hub, { dataDir })).questions.length, 1);
    await removeCheckpoint(CSM, dataDir);
    assert.deepEqual((await pull(hub, { dataDir })).questions, []);
  });
});

describe("an interrupted pull", () => {
  for (const [path, at] of [
    ["config.json", 3],
    [SHARDS[0], 60_001],
    [SHARDS[1], 39_999],
  ] as const) {
    it(`resumes at byte ${at} of ${path}, at its commit`, async () => {
      const { hub, repository } = await csmHub();
      repository.serve = breakOff(at, path);
      const broken = await pull(hub);
      assert.match(
        broken.end,
        /^The checkpoint csm-1b could not be fetched.*broke off.*models pull csm-1b again/,
      );
      assert.equal(broken.left, null, "no incomplete folder");
      const part = join(stagingDir(CSM, broken.dataDir), `${path}.part`);
      assert.equal(statSync(part).size, at);
      assert.equal(await installedCodecLmDir(broken.dataDir, "csm-1b"), null);

      repository.serve = () => false;
      hub.move(repository, LATER_COMMIT, { ...CSM_FILES, [SHARDS[1]]: Buffer.alloc(40_000, "z") });
      const asked = hub.asked.length;
      const { end, dataDir, questions } = await pull(hub, { dataDir: broken.dataDir });
      assert.deepEqual([end, questions], ["installed", []]);
      assert.equal(hub.asked[asked], `/${CSM.repository}/resolve/${COMMIT}/${path} from ${at}`);
      assert.ok(readFileSync(join(dataDir, "checkpoints", "csm-1b", path)).equals(CSM_FILES[path]!));
    });
  }

  it("keeps its partial files when aborted", async () => {
    const { hub, repository } = await csmHub();
    repository.serve = serving(SHARDS[0], (response, bytes, from) => send(response, bytes, from, 30_000));
    const stop = new AbortController();
    const observe = (event: PullEvent) => {
      if (event.kind === "progress" && event.totalBytes === WEIGHTS.length) stop.abort(new Error("enough"));
    };
    const { end, dataDir, left, begun } = await pull(hub, { signal: stop.signal, observe });
    assert.deepEqual([end, left], ["enough", null]);
    assert.ok(begun?.includes(`${SHARDS[0]}.part`), begun?.join());
    assert.equal((await pull(hub, { dataDir })).end, "installed");
  });

  it("whose commit is gone says how to start again", async () => {
    const { hub, repository } = await csmHub();
    repository.serve = serving(SHARDS[1], (response) => response.destroy());
    const { dataDir } = await pull(hub);
    repository.blobs.clear();
    assert.match(
      (await pull(hub, { dataDir })).end,
      /status 404\. .*antiphon models rm csm-1b to begin with what the hub/,
    );
  });
});

function listing(edit: (files: HubAnswer["siblings"]) => unknown): FakeRepository["lie"] {
  return (answer) => ({ ...answer, siblings: edit(answer.siblings) });
}

describe("a misbehaving hub", () => {
  const lies: readonly [what: string, lie: FakeRepository["lie"], says: RegExp][] = [
    [
      "another Git object id",
      listing((files) =>
        files.map((file) => (file.rfilename === "config.json" ? { ...file, blobId: "1".repeat(40) } : file)),
      ),
      /the Git object id of what it sent is [0-9a-f]{40} instead of 1{40}/,
    ],
    [
      "no checksum",
      listing((files) => files.map(({ rfilename, size }) => ({ rfilename, size }))),
      /^The hub states no size or no checksum for config\.json of sesame\/csm-1b/,
    ],
    [
      "no tokenizer",
      listing((files) => files.filter(({ rfilename }) => rfilename !== "tokenizer.json")),
      /^The repository sesame\/csm-1b has no tokenizer\.json, which the checkpoint needs/,
    ],
    [
      "no second shard",
      listing((files) => files.filter(({ rfilename }) => rfilename !== SHARDS[1])),
      /has no transformers-00002-of-00002\.safetensors, which transformers\.safetensors\.index\.json names/,
    ],
  ];
  for (const [what, lie, says] of lies) {
    it(`that states ${what} leaves no checkpoint`, async () => {
      const { hub, repository } = await csmHub();
      repository.lie = lie;
      const { end, left } = await pull(hub);
      assert.match(end, says);
      assert.equal(left, null);
    });
  }

  const contents: readonly [what: string, files: Readonly<Record<string, Buffer>>, says: RegExp][] = [
    [
      "an invalid config.json",
      { "config.json": Buffer.from("]") },
      /^config\.json of the hub is not a JSON object/,
    ],
    [
      "a weights path with ..",
      { "config.json": json({ transformers_weights: "../../evil.safetensors" }) },
      /transformers_weights names no weights: "\.\.\/\.\.\/evil\.safetensors"/,
    ],
    ["an empty index", { [INDEX]: json({ weight_map: {} }) }, /has no valid weight_map/],
    [
      "an index path with ..",
      { [INDEX]: json({ weight_map: { a: "../a.safetensors" } }) },
      /has no valid weight_map/,
    ],
  ];
  for (const [what, files, says] of contents) {
    it(`that has ${what} is rejected`, async () => {
      const { hub, repository } = await csmHub();
      hub.move(repository, COMMIT, { ...CSM_FILES, ...files });
      assert.match((await pull(hub)).end, says);
    });
  }

  it("that answers 503 to the listing is retried, then abandoned with its status", async () => {
    const { hub, repository } = await csmHub();
    let times = 0;
    repository.answerApi = (response) => {
      times += 1;
      if (times > 2) return false;
      response.writeHead(times === 1 ? 429 : 502, { "retry-after": "0" }).end();
      return true;
    };
    assert.equal((await pull(hub)).end, "installed");
    repository.answerApi = (response) => {
      response.writeHead(503).end();
      return true;
    };
    assert.match((await pull(hub)).end, /answers with status 503; try again later\.$/);
  });

  it("that lists only names is asked for its tree", async () => {
    const { hub, repository } = await csmHub();
    repository.lie = listing((files) => files.map(({ rfilename }) => ({ rfilename })));
    repository.hasTree = true;
    const { end } = await pull(hub);
    assert.equal(end, "installed");
    assert.equal(hub.asked[1], `/api/models/${CSM.repository}/tree/${COMMIT}`);
  });
});

describe("a gated repository", () => {
  const refused: readonly [what: string, env: Record<string, string>, says: RegExp][] = [
    [
      "no token",
      {},
      /status 401.*https:\/\/huggingface\.co\/sesame\/csm-1b, accept its terms there.* set HF_TOKEN/,
    ],
    [
      "a token without access",
      { HF_TOKEN: "hf_other" },
      /status 403.*HF_TOKEN may not read sesame\/csm-1b: accept its terms at https:\/\/huggingface\.co\/sesame\/csm-1b/,
    ],
  ];
  for (const [what, env, says] of refused) {
    it(`says where to accept its terms with ${what}`, async () => {
      const { hub, repository } = await csmHub();
      // The hub lists the files of a gated repository but does not serve them.
      repository.token = "hf_right";
      repository.isListed = true;
      const { end, left } = await pull(hub, { env });
      assert.match(end, says);
      assert.ok(!end.includes("hf_other"), "the message contains the token");
      assert.equal(left, null);
      repository.isListed = false;
      assert.match((await pull(hub, { env })).end, says);
    });
  }
});

describe("a disk", () => {
  it("without enough room is reported before the weights are fetched", async () => {
    const { hub } = await csmHub();
    const { end, left } = await pull(hub, { freeBytes: async () => 120_000 });
    assert.match(end, /has 0\.1 MB free, and 0\.1 MB are needed: make room/);
    assert.equal(left, null);
    assert.ok(!hub.asked.some((path) => path.includes(SHARDS[0])));
  });

  it("that fills up midway keeps the downloaded files", async () => {
    const { hub } = await csmHub();
    const dataDir = temporaryFolder();
    const full = join(stagingDir(CSM, dataDir), `${SHARDS[1]}.part`);
    mkdirSync(join(full, ".."), { recursive: true });
    if (!existsSync("/dev/full")) return;
    const { end, begun } = await withFullDisk(full, () => pull(hub, { dataDir }));
    assert.match(end, /is full: make room, .*Downloaded data is kept: antiphon models pull csm-1b resumes/);
    assert.ok(begun?.includes(SHARDS[0]));
    const asked = hub.asked.length;
    assert.equal((await pull(hub, { dataDir })).end, "installed");
    assert.deepEqual(hub.asked.slice(asked), [`/${CSM.repository}/resolve/${COMMIT}/${SHARDS[1]}`]);
  });
});

it("known checkpoints have unique names and valid repository ids", () => {
  assert.equal(new Set(KNOWN_CODEC_LMS.map(({ name }) => name)).size, KNOWN_CODEC_LMS.length);
  for (const { name, repository } of KNOWN_CODEC_LMS) {
    assert.match(name, /^[a-z0-9][a-z0-9.-]+$/);
    assert.match(repository, /^[\w.-]+\/[\w.-]+$/);
  }
});
