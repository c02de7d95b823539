import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvents, type SentEvent } from "../../src/client/server-sent-events.ts";
import fc from "../properties.ts";
import { within } from "../waiting.ts";

const LINE_ENDS = ["\n", "\r", "\r\n"];
const text = fc.string({ unit: fc.constantFrom("a", " ", ":", "ü", "🎉", "\u2028", '"') });
const line = fc.oneof(
  text.map((value) => `data:${value}`),
  text.map((value) => `data: ${value}`),
  text.map((value) => `event: ${value}`),
  text.map((value) => `: ${value}`),
  fc.constantFrom("data", "event", "id: 7", "retry: 10", "nonsense", " data: x", ""),
);
const stream = fc.array(fc.tuple(line, fc.constantFrom(...LINE_ENDS)));

async function* cut(bytes: Uint8Array, places: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...ends, bytes.length]) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

/** Parses lines as the standard describes it. */
function eventsOf(lines: readonly string[]): SentEvent[] {
  const events: SentEvent[] = [];
  let [event, data]: [string, string | null] = ["", null];
  for (const each of lines) {
    const colon = each.indexOf(":");
    const name = colon < 0 ? each : each.slice(0, colon);
    const value = colon < 0 ? "" : each.slice(colon + 1).replace(/^ /, "");
    if (each === "") {
      if (data !== null) events.push({ event: event === "" ? "message" : event, data });
      [event, data] = ["", null];
    } else if (name === "event") event = value;
    else if (name === "data") data = data === null ? value : `${data}\n${value}`;
  }
  return events;
}

async function read(bytes: Uint8Array, places: readonly number[]): Promise<SentEvent[]> {
  const events: SentEvent[] = [];
  for await (const event of readEvents(cut(bytes, places))) events.push(event);
  return events;
}

test("parses events as the standard does, however the stream is cut", async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(), { maxLength: 40 }), async (pieces, places) => {
      // A CR before a separate LF would read as one line end.
      const written = pieces.map(([each, end], at) => {
        const isJoined = end === "\r" && pieces[at + 1]?.[0] === "" && pieces[at + 1]?.[1] === "\n";
        return each + (isJoined ? "\n" : end);
      });
      const bytes = new TextEncoder().encode(written.join(""));
      assert.deepEqual(await read(bytes, places), eventsOf(pieces.map(([each]) => each)));
    }),
    { numRuns: 1_000 },
  );
});

test("skips a byte order mark and an unfinished event", async () => {
  const bytes = new TextEncoder().encode('\ufeffdata: {"a": 1}\n\nevent: end\ndata: {"cut":\n');
  for (let place = 0; place <= bytes.length; place++) {
    assert.deepEqual(await read(bytes, [place]), [{ event: "message", data: '{"a": 1}' }]);
  }
});

test("reads an event of 32 MiB in small chunks in linear time", async () => {
  const piece = new TextEncoder().encode("x".repeat(512));
  const count = 64 * 1_024;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("data: ");
    for (let at = 0; at < count; at++) {
      // Lets the deadline fire.
      if (at % 64 === 0) await new Promise(setImmediate);
      yield piece;
    }
    yield new TextEncoder().encode("\n\n");
  }
  const lengths = async (): Promise<number[]> => {
    const found: number[] = [];
    for await (const { data } of readEvents(pieces())) found.push(data.length);
    return found;
  };
  assert.deepEqual(await within("the event", lengths()), [512 * count]);
});
