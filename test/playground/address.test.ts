import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP } from "../architecture/top.ts";
import fc from "../properties.ts";

interface Asked {
  readonly turns: readonly { readonly speaker: string; readonly text: string }[];
  readonly model: string | null;
  readonly params: Readonly<Record<string, string>>;
}
interface Address {
  MAX_ADDRESS_CHARS: number;
  toAddress(asked: Asked): string | null;
  fromAddress(address: string): Asked;
}

const { MAX_ADDRESS_CHARS, toAddress, fromAddress }: Address = await import(
  pathToFileURL(join(TOP, "playground/address.js")).href
);

const turn = fc.record(
  { speaker: fc.constantFrom("0", "1"), text: fc.string({ unit: "grapheme" }) },
  { noNullPrototype: true },
);

test("any conversation survives a round trip through its address", () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 64 }), (turns) => {
      const asked = { turns, model: "svc-beta-v0.1", params: { temperature: "0.2", audio_quality: "low" } };
      const address = toAddress(asked);
      if (address !== null) assert.deepEqual(fromAddress(address), asked);
    }),
  );
});

test("an address is readable", () => {
  const turns = [
    { speaker: "0", text: "Did you sleep well?" },
    { speaker: "1", text: "" },
  ];
  assert.equal(toAddress({ turns, model: null, params: {} }), "0=Did+you+sleep+well%3F&1=");
  assert.deepEqual(fromAddress("0=Did you sleep well?&1=").turns, turns);
});

test("a conversation that is too long has no address", () => {
  const saying = (length: number) => ({
    turns: [{ speaker: "0", text: "a".repeat(length) }],
    model: null,
    params: {},
  });
  assert.equal(toAddress(saying(MAX_ADDRESS_CHARS - 2))?.length, MAX_ADDRESS_CHARS);
  assert.equal(toAddress(saying(MAX_ADDRESS_CHARS - 1)), null);
});

const REFUSED: Readonly<Record<string, readonly [string, RegExp]>> = {
  "longer than it may be": [`0=${"a".repeat(MAX_ADDRESS_CHARS)}`, /longer than 16000/],
  "no turn": ["model=svc-beta-v0.3", /has no turn/],
  "too many turns": [Array(65).fill("0=a").join("&"), /more than 64 turns/],
  "a turn that is too long": [`0=${"a".repeat(8_001)}`, /more than 8000 characters/],
  "bytes that are no text": ["0=%ff%fe", /damaged/],
  "a speaker that is markup": ["<img src=x onerror=alert(1)>=Hello", /neither a turn/],
  "a model that is markup": ["0=Hello&model=<script>", /neither a turn/],
  "a knob that is markup": ["0=Hello&temperature=<img>", /neither a turn/],
  "a name of every object's": ["0=Hello&__proto__=1", /neither a turn/],
  "nothing that is known": ["eyJjb252ZXJzYXRpb24iOltdfQ", /neither a turn/],
};

for (const [what, [address, why]] of Object.entries(REFUSED)) {
  test(`refuses an address with ${what}`, () => {
    assert.throws(() => fromAddress(address), why);
  });
}

test("reads any address or refuses it with a reason", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (address) => {
      try {
        const { turns } = fromAddress(address);
        assert.ok(turns.length > 0);
        for (const { speaker } of turns) assert.match(speaker, /^\d{1,2}$/);
      } catch (error) {
        assert.ok(error instanceof Error && error.constructor === Error, `${error}`);
      }
    }),
  );
});
