import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { LicenceQuestion } from "../../../src/models/download/accepted-licences.ts";
import { parseHubName } from "../../../src/models/download/hub-name.ts";
import { pullFromHub } from "../../../src/models/download/pull-hub.ts";
import { readLocalManifests } from "../../../src/models/installation-records.ts";
import { findKnownWriter } from "../../../src/models/known-hub-models.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { within } from "../../waiting.ts";
import {
  breakOff,
  COMMIT,
  type FakeHub,
  type FakeRepository,
  fakeHub,
  LATER_COMMIT,
  send,
} from "./fake-hub.ts";
import { HASTY, WEIGHTS } from "./fixture.ts";

const TINY = "ann/Tiny-GGUF";
const FILE = "tiny-q4_k_m.gguf";
const NAME = "ann.tiny-q4_k_m";

interface Attempt {
  /** The outcome, or the error message. */
  readonly end: string;
  readonly questions: readonly LicenceQuestion[];
  readonly dataDir: string;
  /** Files in the checkpoint's folder; `null` if there is none. */
  readonly left: readonly string[] | null;
}

async function pull(
  hub: FakeHub,
  name: string,
  {
    dataDir = temporaryFolder(),
    answer = true,
    env = {},
  }: { dataDir?: string; answer?: boolean; env?: Record<string, string> } = {},
): Promise<Attempt> {
  const questions: LicenceQuestion[] = [];
  const end = await pullFromHub(parseHubName(name), {
    dataDir,
    times: HASTY,
    env: { HF_ENDPOINT: hub.endpoint, ...env },
    acceptLicence: async (question) => {
      questions.push(question);
      return answer;
    },
  }).then(
    ({ manifest, outcome }) => `${manifest.name} ${outcome}`,
    (error: Error) => error.message,
  );
  const dir = join(dataDir, "checkpoints", NAME);
  return { end, questions, dataDir, left: existsSync(dir) ? readdirSync(dir).sort() : null };
}

async function tiny(): Promise<{ hub: FakeHub; repository: FakeRepository }> {
  const hub = await fakeHub();
  return { hub, repository: hub.repository(TINY, { [FILE]: WEIGHTS }) };
}

describe("a GGUF on the hub", () => {
  it("is rejected if it differs from a known commit, and accepted at any other commit", async () => {
    const { name, repository: place, path, known } = findKnownWriter("qwen2.5-1.5b")!;
    const hub = await fakeHub();
    const repository = hub.repository(place, { [path]: WEIGHTS });
    hub.move(repository, known!.revision.padEnd(40, "0"), { [path]: WEIGHTS });
    const { end, questions } = await pull(hub, `hf:${place}:${path}`);
    assert.match(
      end,
      /file for qwen2\.5-1\.5b at commit 91cad511 differs .*1117320736 bytes.*nothing was fetched/,
    );
    assert.deepEqual(questions, []);
    hub.move(repository, COMMIT, { [path]: WEIGHTS });
    assert.equal((await pull(hub, `hf:${place}:${path}`)).end, `${name} installed`);
  });

  it("is chosen over files with unsafe or unprintable paths", async () => {
    const hub = await fakeHub();
    hub.repository(TINY, {
      [FILE]: WEIGHTS,
      "../../evil.gguf": WEIGHTS,
      "a/./b.gguf": WEIGHTS,
      "\u001b[2Jclear.gguf": WEIGHTS,
      [`${"x".repeat(300)}.gguf`]: WEIGHTS,
    });
    const { end, left } = await pull(hub, `hf:${TINY}`);
    assert.equal(end, `${NAME} installed`);
    assert.ok(left?.includes(FILE));
  });

  it("cannot take the name of a known model", async () => {
    const hub = await fakeHub();
    hub.repository("qwen2/5-1.5b-GGUF", { "5-1.5b.gguf": WEIGHTS });
    assert.equal((await pull(hub, "hf:qwen2/5-1.5b-GGUF")).end, "hub.qwen2.5-1.5b installed");
  });

  it("is installed as the hub states it, at its current commit", async () => {
    const { hub } = await tiny();
    const { end, left, dataDir } = await pull(hub, `hf:${TINY}`);
    assert.deepEqual([end, left], [`${NAME} installed`, ["manifest.json", FILE]]);
    assert.deepEqual(hub.asked, [`/api/models/${TINY}/revision/main`, `/${TINY}/resolve/${COMMIT}/${FILE}`]);
    assert.ok(readFileSync(join(dataDir, "checkpoints", NAME, FILE)).equals(WEIGHTS));
    const [own] = await readLocalManifests(dataDir);
    assert.deepEqual(
      [own?.manifest?.licence, own?.manifest?.licenceUrl],
      ["Apache-2.0", `https://huggingface.co/${TINY}`],
    );
  });

  it("resumes at its commit even if the branch has moved", async () => {
    const { hub, repository } = await tiny();
    repository.serve = breakOff(40_000);
    const broken = await pull(hub, `hf:${TINY}`);
    assert.match(broken.end, /could not be fetched \(0\.0 MB are kept.*the connection broke off/);
    assert.deepEqual(broken.left, ["manifest.json", `${FILE}.part`]);
    assert.equal(statSync(join(broken.dataDir, "checkpoints", NAME, `${FILE}.part`)).size, 40_000);

    hub.move(repository, LATER_COMMIT, { [FILE]: Buffer.alloc(WEIGHTS.length, "y") });
    repository.serve = () => false;
    const { end } = await pull(hub, `hf:${TINY}`, { dataDir: broken.dataDir });
    assert.equal(end, `${NAME} installed`);
    assert.equal(hub.asked.at(-1), `/${TINY}/resolve/${COMMIT}/${FILE} from 40000`);
    assert.ok(readFileSync(join(broken.dataDir, "checkpoints", NAME, FILE)).equals(WEIGHTS));
  });

  it("whose commit is gone says how to start again", async () => {
    const { hub, repository } = await tiny();
    repository.serve = breakOff(1_000);
    const { dataDir } = await pull(hub, `hf:${TINY}`);
    repository.blobs.clear();
    const { end } = await pull(hub, `hf:${TINY}`, { dataDir });
    assert.match(end, /status 404\. .*or run antiphon models rm ann\.tiny-q4_k_m to begin with what the hub/);
  });

  const differing: readonly [what: string, size: number, sha256: string | null, says: RegExp][] = [
    ["size", 95_000, null, /its file has 95001 bytes instead of 95000 bytes/],
    [
      "SHA-256",
      WEIGHTS.length,
      "0".repeat(64),
      /the SHA-256 of what it sent is [0-9a-f]{64} instead of 0{64}/,
    ],
  ];
  for (const [what, size, sha256, says] of differing) {
    it(`is rejected if its ${what} differs from the listing`, async () => {
      const { hub, repository } = await tiny();
      repository.lie = (answer) => {
        const [, file] = answer.siblings;
        file!.lfs = { size, sha256: sha256 ?? file!.lfs!.sha256 };
        return { ...answer, siblings: [{ ...file!, size }] };
      };
      const { end, left } = await pull(hub, `hf:${TINY}`);
      assert.match(end, says);
      assert.equal(left, null);
    });
  }

  const lies: readonly [what: string, lie: FakeRepository["lie"], says: RegExp][] = [
    [
      "two sizes",
      (answer) => ({ ...answer, siblings: [{ ...answer.siblings[1], size: 7 }] }),
      /states two sizes for tiny-q4_k_m\.gguf, 7 and 95001 bytes; try again later\.$/,
    ],
    [
      "no SHA-256",
      (answer) => ({ ...answer, siblings: [{ ...answer.siblings[1], lfs: null }] }),
      /^The hub states no size or no SHA-256 for tiny-q4_k_m\.gguf of ann\/Tiny-GGUF/,
    ],
    [
      "a file without bytes",
      (answer) => ({
        ...answer,
        siblings: [{ rfilename: FILE, size: 0, lfs: { size: 0, sha256: "0".repeat(64) } }],
      }),
      /^The hub states no size/,
    ],
    ["an invalid commit", (answer) => ({ ...answer, sha: "main" }), /not that of a model hub; check HF_/],
    ["nothing", () => null, /not that of a model hub; check HF_ENDPOINT\.$/],
  ];
  for (const [what, lie, says] of lies) {
    it(`is not fetched if the hub states ${what}`, async () => {
      const { hub, repository } = await tiny();
      repository.lie = lie;
      const { end, left } = await pull(hub, `hf:${TINY}`);
      assert.match(end, says);
      assert.deepEqual([left, hub.asked.length], [null, 1]);
    });
  }

  it("gets its short name if it is a known model", async () => {
    const hub = await fakeHub();
    hub.repository("Qwen/Qwen3-1.7B-GGUF", { "Qwen3-1.7B-Q8_0.gguf": WEIGHTS });
    assert.equal((await pull(hub, "hf:Qwen/Qwen3-1.7B-GGUF")).end, "qwen3-1.7b installed");
  });
});

describe("a hub name", () => {
  const three = { "m-Q8_0.gguf": WEIGHTS, "m-Q4_K_M.gguf": WEIGHTS, "m-Q2_K.gguf": WEIGHTS };
  const cases: readonly [files: string[], name: string, end: RegExp][] = [
    [Object.keys(three), "", /^ann\.tiny\.m-q4_k_m installed$/],
    [Object.keys(three), ":m-Q8_0.gguf", /^ann\.tiny\.m-q8_0 installed$/],
    [Object.keys(three), ":M-q2_k.GGUF", /^ann\.tiny\.m-q2_k installed$/],
    [
      ["m-Q8_0.gguf", "m-Q2_K.gguf"],
      "",
      /^The repository ann\/Tiny-GGUF has several GGUF files: name one of these, as in hf:ann\/Tiny-GGUF:m-Q8_0\.gguf\. There are m-Q2_K\.gguf, m-Q8_0\.gguf\.$/,
    ],
    [Object.keys(three), ":m-Q3.gguf", /has no m-Q3\.gguf: name one of these, .* There are m-Q2_K\.gguf, /],
    [["mmproj-m.gguf", "m.gguf"], "", /^ann\.tiny\.m installed$/],
    [["model.safetensors"], "", /^The repository ann\/Tiny-GGUF has no GGUF file: choose a repository/],
    [
      ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"],
      ":m-00001-of-00002.gguf",
      /^The file m-00001-of-00002\.gguf of .* cut into several files, which cannot be used: choose/,
    ],
    [["only-00001-of-00001.gguf"], "", /cut into several files/],
    [["q4/m q4.gguf"], "", /^ann\.tiny\.m-q4 installed$/],
  ];
  for (const [paths, name, expected] of cases) {
    it(`resolves hf:${TINY}${name} among ${paths.join(", ")}`, async () => {
      const hub = await fakeHub();
      hub.repository(TINY, Object.fromEntries(paths.map((path) => [path, WEIGHTS])));
      assert.match((await pull(hub, `hf:${TINY}${name}`)).end, expected);
    });
  }

  for (const wrong of ["hf:", "hf:ann", "hf:ann/", "hf:../x", "hf:a/b:../c", "hf:a/b/c", "hf:a b/c"]) {
    it(`rejects ${JSON.stringify(wrong)}`, () => {
      assert.throws(() => parseHubName(wrong), /is not a name on the hub: write hf:OWNER\/REPO/);
    });
  }
});

describe("a licence", () => {
  it("is shown as the hub states it, once per repository and licence", async () => {
    const { hub, repository } = await tiny();
    repository.card = { license: "other", license_name: "tiny-terms", license_link: "https://example.org/t" };
    const { questions, dataDir } = await pull(hub, `hf:${TINY}`);
    const [{ licence, licenceUrl, sizeBytes } = { licence: "", licenceUrl: "", sizeBytes: 0 }] = questions;
    assert.deepEqual(
      [questions.length, licence, licenceUrl, sizeBytes],
      [1, "tiny-terms", "https://example.org/t", WEIGHTS.length],
    );
    hub.move(repository, LATER_COMMIT, { "tiny-q8_0.gguf": WEIGHTS });
    assert.deepEqual((await pull(hub, `hf:${TINY}:tiny-q8_0.gguf`, { dataDir })).questions, []);
    repository.card = { license: "mit" };
    hub.move(repository, LATER_COMMIT, { "tiny-q2_k.gguf": WEIGHTS });
    const changed = await pull(hub, `hf:${TINY}:tiny-q2_k.gguf`, { dataDir });
    assert.deepEqual(
      changed.questions.map((question) => question.licence),
      ["MIT"],
    );
  });

  it('that is missing is shown as "not stated"', async () => {
    const { hub, repository } = await tiny();
    repository.card = { license: 7 };
    assert.equal((await pull(hub, `hf:${TINY}`)).questions[0]?.licence, "not stated");
  });

  it("that is declined leaves no trace, and is asked for again", async () => {
    const { hub } = await tiny();
    const { end, dataDir } = await pull(hub, `hf:${TINY}`, { answer: false });
    assert.match(
      end,
      /^The licence of ann\/Tiny-GGUF was not accepted \(Apache-2\.0, .*\): nothing was fetch/,
    );
    assert.deepEqual([hub.asked.length, readdirSync(dataDir)], [1, []]);
    assert.equal((await pull(hub, `hf:${TINY}`, { dataDir })).questions.length, 1);
  });

  it("cannot be recorded in a corrupt licences.json", async () => {
    const { hub } = await tiny();
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "licences.json"), "{");
    assert.match(
      (await pull(hub, `hf:${TINY}`, { dataDir })).end,
      /licences\.json is not a valid list .* delete it/,
    );
  });
});

describe("a gated hub", () => {
  it("receives the token of HF_TOKEN with every request", async () => {
    const { hub, repository } = await tiny();
    repository.token = "hf_right";
    assert.equal((await pull(hub, `hf:${TINY}`, { env: { HF_TOKEN: "hf_right" } })).end, `${NAME} installed`);
    assert.deepEqual(hub.tokens, ["hf_right", "hf_right"]);
  });

  const refused: readonly [what: string, env: Record<string, string>, says: RegExp][] = [
    ["no token", {}, /status 401, so there is no ann\/Tiny-GGUF, or not without a token.* set HF_TOKEN/],
    [
      "another token",
      { HF_TOKEN: "hf_wrong" },
      /status 403, so the token in HF_TOKEN may not read ann\/Tiny/,
    ],
    ["an invalid token", { HF_TOKEN: "hf_ünd" }, /HF_TOKEN holds characters that no token has/],
  ];
  for (const [what, env, says] of refused) {
    it(`explains the remedy for ${what}`, async () => {
      const { hub, repository } = await tiny();
      repository.token = "hf_right";
      const { end, left } = await pull(hub, `hf:${TINY}`, { env });
      assert.match(end, says);
      assert.ok(!end.includes("hf_wrong"), "the message contains the token");
      assert.equal(left, null);
    });
  }

  it("explains a 401 during the download", async () => {
    const { hub, repository } = await tiny();
    repository.serve = (response) => {
      response.writeHead(401).end();
      return true;
    };
    assert.match((await pull(hub, `hf:${TINY}`)).end, /answers with status 401: there is no .* set HF_TOKEN/);
  });

  it("does not forward its token to another host", async () => {
    const { hub, repository } = await tiny();
    const tokens: (string | undefined)[] = [];
    const store = createServer((request, response) => {
      tokens.push(request.headers.authorization);
      send(response, WEIGHTS, 0);
    }).listen(0, "127.0.0.1");
    await within("a port", once(store, "listening"));
    after(() => store.close());
    const { port } = store.address() as AddressInfo;
    repository.serve = (response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/blob` }).end();
      return true;
    };
    const { end } = await pull(hub, `hf:${TINY}`, { env: { HF_TOKEN: "hf_right" } });
    assert.deepEqual([end, tokens], [`${NAME} installed`, [undefined]]);
  });

  it("is reported as unreachable, not as gated, if the connection fails", async () => {
    const { end } = await pull({ endpoint: "http://127.0.0.1:1" } as FakeHub, `hf:${TINY}`);
    assert.match(end, /^127\.0\.0\.1:1 gave no listing of ann\/Tiny-GGUF: it cannot be reached \(ECONNREFU/);
  });
});
