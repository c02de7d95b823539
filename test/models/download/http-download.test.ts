import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { checkpointDir, checkpointFile } from "../../../src/models/installed-checkpoint.ts";
import fc from "../../properties.ts";
import { type Answer, cut, cutRangeless, file, fileServer, status, unmeasured } from "./file-server.ts";
import { manifestOf, type Pulled, placed, pull, WEIGHTS } from "./fixture.ts";

const WRONG = Buffer.alloc(WEIGHTS.length, "x");

async function pullFrom(answers: Answer[], times = {}): Promise<Pulled & { asked: (number | null)[] }> {
  const { asked, manifest, dataDir } = await fileServer(...answers);
  const pulled = await pull(manifest, dataDir, { times });
  if (pulled.end === "installed") {
    assert.deepEqual(pulled.left, ["tiny.gguf"]);
    assert.ok(placed(manifest, dataDir).equals(WEIGHTS), "installed bytes differ");
  }
  return { ...pulled, asked };
}

describe("a file over HTTP", () => {
  it("resumes where the connection broke off", async () => {
    const { end, asked, events } = await pullFrom([cut(10_000), cut(0), cut(20_000), file()]);
    assert.equal(end, "installed");
    assert.deepEqual(asked, [null, 10_000, 10_000, 30_000]);
    const done = events.flatMap((event) => (event.kind === "progress" ? [event.doneBytes] : []));
    assert.deepEqual(
      done,
      done.toSorted((a, b) => a - b),
    );
    assert.equal(done.at(-1), WEIGHTS.length);
  });

  it("restarts if the server ignores ranges", async () => {
    const { end, asked } = await pullFrom([cut(10_000), cutRangeless(99_999)]);
    assert.deepEqual([end, asked], ["installed", [null, 10_000]]);
  });

  const wrongRanges: readonly [what: string, headers: Record<string, string>][] = [
    ["another range", { "content-range": `bytes 0-${WEIGHTS.length - 1}/${WEIGHTS.length}` }],
    ["no Content-Range", {}],
    ["an invalid Content-Range", { "content-range": "bytes all of it" }],
  ];
  for (const [what, headers] of wrongRanges) {
    it(`restarts if the server sends ${what}`, async () => {
      const { end, asked } = await pullFrom([cut(10_000), status(206, headers, "xxx"), file()]);
      assert.deepEqual([end, asked], ["installed", [null, 10_000, null]]);
    });
  }

  it("restarts if the server answers 416", async () => {
    const { end, asked } = await pullFrom([cut(10_000), status(416), file()]);
    assert.deepEqual([end, asked], ["installed", [null, 10_000, null]]);
  });

  it("resumes a partial file of an earlier pull", async () => {
    const { asked, manifest, dataDir } = await fileServer(cut(40_000), status(404), file());
    const first = await pull(manifest, dataDir);
    assert.match(
      first.end,
      /0\.0 MB are kept for the next time\)\. 127.*answers with status 404\. Run antiphon/,
    );
    assert.deepEqual(first.left, ["tiny.gguf.part"]);
    const second = await pull(manifest, dataDir);
    assert.deepEqual([second.end, second.left, asked], ["installed", ["tiny.gguf"], [null, 40_000, 40_000]]);
    assert.ok(placed(manifest, dataDir).equals(WEIGHTS));
  });

  it("restarts if the partial file does not match", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
    writeFileSync(`${checkpointFile(manifest, dataDir)}.part`, "something else");
    assert.equal((await pull(manifest, dataDir)).end, "installed");
    assert.deepEqual(asked, [14, null]);
    assert.ok(placed(manifest, dataDir).equals(WEIGHTS));
  });

  it("is installed without a request if its partial file is already complete", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
    writeFileSync(`${checkpointFile(manifest, dataDir)}.part`, WEIGHTS);
    assert.deepEqual([(await pull(manifest, dataDir)).end, asked], ["installed", []]);
  });

  it("is rejected on a checksum mismatch, and nothing is kept", async () => {
    const { end, left, asked } = await pullFrom([file(WRONG)]);
    assert.match(end, /the SHA-256 of what it sent is [0-9a-f]{64} instead of [0-9a-f]{64}\. Run/);
    assert.deepEqual([left, asked.length], [null, 1]);
  });

  it("is rejected unread if its size differs", async () => {
    const short = WEIGHTS.subarray(1);
    for (const answers of [
      [file(short)],
      [cut(10_000), file(short)],
      [cut(10_000), status(416, { "content-range": "bytes */95000" })],
    ]) {
      const { end, asked } = await pullFrom(answers);
      assert.match(end, /its file has 95000 bytes instead of 95001 bytes/);
      assert.equal(asked.length, answers.length, "no retry");
    }
  });

  it("is read no further than its size", async () => {
    let written = 0;
    const endless: Answer = (response) => {
      const more = () => {
        const bytes = written < WEIGHTS.length ? WEIGHTS.subarray(written, written + 5_000) : WRONG;
        written += bytes.length;
        if (!response.destroyed) response.write(bytes, more);
      };
      more();
    };
    assert.equal((await pullFrom([endless])).end, "installed");
    assert.ok(written < 100 * WEIGHTS.length, `${written} bytes`);
  });

  it("fails if the response always ends early", async () => {
    const { end, left, asked } = await pullFrom([unmeasured(WEIGHTS.subarray(0, 95_000))]);
    assert.match(end, /its response ends too early/);
    assert.deepEqual([left, asked], [["tiny.gguf.part"], [null, 95_000, 95_000, 95_000, 95_000]]);
  });

  it("is installed intact after any sequence of cuts", async () => {
    const broken = fc.record({ count: fc.integer({ min: 0, max: 40_000 }), isRangeless: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { maxLength: 6 }), async (cuts) => {
        const answers = cuts.map(({ count, isRangeless }) => (isRangeless ? cutRangeless : cut)(count));
        const { end } = await pullFrom([...answers, file()], { retryDelaysMs: Array(8).fill(0) });
        assert.equal(end, "installed");
      }),
      { numRuns: 40 },
    );
  });
});

describe("a server that answers with an error status", () => {
  for (const code of [400, 401, 403, 404, 410]) {
    it(`${code} is not retried`, async () => {
      const { end, left, asked } = await pullFrom([status(code)]);
      assert.match(end, new RegExp(`it answers with status ${code}\\. Run antiphon models pull tiny again`));
      assert.deepEqual([left, asked.length], [null, 1]);
    });
  }

  for (const code of [408, 429, 500, 503]) {
    it(`${code} is retried three times`, async () => {
      assert.equal((await pullFrom([status(code), status(code), file()])).end, "installed");
      const { end, asked } = await pullFrom([status(code)]);
      assert.match(end, new RegExp(`it answers with status ${code}`));
      assert.equal(asked.length, 4);
    });
  }

  it("is retried after Retry-After if that is soon", async () => {
    const soon = await pullFrom([status(429, { "retry-after": "0" }), file()], { retryDelaysMs: [60_000] });
    assert.equal(soon.end, "installed");
    const past = { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" };
    assert.equal((await pullFrom([status(503, past), file()], { retryDelaysMs: [60_000] })).end, "installed");
    const { end, asked } = await pullFrom([status(429, { "retry-after": "3600" }), file()]);
    assert.match(end, /status 429/);
    assert.equal(asked.length, 1);
  });
});

describe("a redirect", () => {
  it("is followed, relative or to another host", async () => {
    const elsewhere = await fileServer(file());
    const { end } = await pullFrom([
      status(302, { location: "/there?x=1" }),
      status(307, { location: "down/here" }),
      status(308, { location: elsewhere.url }),
    ]);
    assert.deepEqual([end, elsewhere.asked], ["installed", [null]]);
  });

  it("keeps the requested range", async () => {
    const elsewhere = await fileServer(cut(10_000), file());
    const { end } = await pullFrom([status(302, { location: elsewhere.url })]);
    assert.deepEqual([end, elsewhere.asked], ["installed", [null, 10_000]]);
  });

  const refused: readonly [location: string | null, says: RegExp][] = [
    ["http://example.org/tiny.gguf", /it redirects to http:\/\/example\.org, but only https:\/\/ is allowed/],
    ["file:///etc/passwd", /it redirects to file:\/\/, but only https/],
    ["http://", /it redirects to something that is not a URL/],
    [null, /it redirects without a Location header/],
  ];
  for (const [location, says] of refused) {
    it(`to ${location ?? "nowhere"} is rejected`, async () => {
      const { end, left, asked } = await pullFrom([status(302, location === null ? {} : { location })]);
      assert.match(end, says);
      assert.deepEqual([left, asked.length], [null, 1]);
    });
  }

  it("in a loop is abandoned", async () => {
    const { end, asked } = await pullFrom([status(301, { location: "/tiny.gguf" })]);
    assert.match(end, /it redirects more than 10 times/);
    assert.equal(asked.length, 11);
  });
});

describe("a slow or unreachable server", () => {
  const impatient = { stallTimeoutMs: 60, retryDelaysMs: [0] };
  /** Long enough for a busy machine. */
  const patient = { ...impatient, stallTimeoutMs: 1_000 };

  it("that never answers is abandoned", async () => {
    const { end, asked } = await pullFrom([() => {}], impatient);
    assert.match(end, /it does not answer within 0\.06 s/);
    assert.equal(asked.length, 2);
  });

  it("that stalls midway is asked for the rest", async () => {
    const stalls: Answer = (response) => {
      response.writeHead(200, { "content-length": WEIGHTS.length });
      response.write(WEIGHTS.subarray(0, 1_000));
    };
    const { end, asked, events } = await pullFrom([stalls, file()], patient);
    assert.deepEqual([end, asked], ["installed", [null, 1_000]]);
    const problems = events.flatMap((event) => (event.kind === "retry" ? [event.problem] : []));
    assert.deepEqual(problems, ["it sends less than 1 bytes in 1 s"]);
  });

  it("that sends single bytes is abandoned", async () => {
    const drips: Answer = (response) => {
      response.writeHead(200, { "content-length": WEIGHTS.length });
      const drip = setInterval(() => response.write("x"), 10);
      response.once("close", () => clearInterval(drip));
    };
    const { end } = await pullFrom([drips], { ...patient, stallBytes: 1_000, retryDelaysMs: [] });
    assert.match(end, /it sends less than 1000 bytes in 1 s/);
  });

  it("that is unreachable is asked once, then the next source is used", async () => {
    const { url, dataDir } = await fileServer(file());
    const sources = [
      { kind: "https", url: "http://127.0.0.1:1/tiny.gguf" } as const,
      { kind: "https", url } as const,
    ];
    const { end, events } = await pull(manifestOf(sources), dataDir);
    assert.equal(end, "installed");
    assert.deepEqual(
      events.map(({ kind }) => kind).filter((kind) => kind !== "progress"),
      ["source", "source-failed", "source", "placed"],
    );
    const failed = events.find((event) => event.kind === "source-failed");
    assert.match(failed?.problem ?? "", /it cannot be reached \(ECONNREFUSED\)/);
  });

  it("that becomes unreachable midway is retried", async () => {
    const gone: Answer = (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    const { end, asked } = await pullFrom([cut(10_000), gone]);
    assert.match(end, /it cannot be reached/);
    assert.equal(asked.length, 5);
  });
});
