import assert from "node:assert/strict";
import { askedPauses, spokenText, writtenText } from "../../src/core/marked-text.ts";
import { MAX_PAUSE_S, MarkupError } from "../../src/text/ssml/markup.ts";
import { parseMarkup } from "../../src/text/ssml/parse-markup.ts";
import { bentBytes } from "./bent-bytes.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Fuzzes SSML, pauses and voices in a text: refused with a position, or parsed to marks within the text and their bounds. */
export const ssmlFuzz: Fuzzer = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

const OPENING =
  `p|s|emphasis level="strong"|emphasis level="reduced"|prosody rate="80%"|prosody pitch="+2st" volume="-6dB"|voice name="1"|` +
  `voice name="nobody"|lang xml:lang="fr"|foo a="1" b='2'|sub alias="a &amp; b"|say-as interpret-as="date" format="mdy"|` +
  `say-as interpret-as="characters"|say-as interpret-as="telephone"|phoneme ph="kˈæt"|phoneme ph="ʁ9"|metadata|desc`;
const OPENINGS = OPENING.split("|");
const ALONE =
  `<break/>|<break time="1s"/>|<break time="9999h"/>|<break strength="weak"/>|<mark name="m"/>|<mark/>|&amp;|&#x1F642;|&nope;|` +
  "&|<|]]>|<![CDATA[<b>]]>|<!-- c -->|<?pi?>|<!DOCTYPE speak>|[pause:0.8s]|[pause:99s]|[pause:x]|[voice:1]|[voice:nobody]|[voice: 1|[voice:|[a](/ˈA/)|Hello |world. |" +
  "9/12/2027|\n\n| |é🙂|\ud83d";
const PIECES = ALONE.split("|");

function make(random: Random): Uint8Array {
  const open: string[] = [];
  let text = random() < 0.9 ? "<speak>" : "";
  const count = Math.floor(random() ** 3 * 400);
  for (let at = 0; at < count; at++) {
    const dice = random();
    if (dice < 0.25) {
      const opening = OPENINGS[Math.floor(random() * OPENINGS.length)]!;
      text += `<${opening}>`;
      open.push(opening.split(" ")[0]!);
    } else if (dice < 0.5 && open.length > 0) text += `</${open.pop()}>`;
    // Errors are rare, or no input would be parsed to its end.
    else text += PIECES[Math.floor(random() ** 2 * PIECES.length)]!;
  }
  for (const name of open.reverse()) text += `</${name}>`;
  const whole = Buffer.from(`${text}${random() < 0.95 ? "</speak>" : ""}`);
  return random() < 0.7 ? whole : bentBytes(whole, whole, random);
}

async function check(input: Uint8Array): Promise<void> {
  const text = new TextDecoder().decode(input);
  const findVoice = ([name]: readonly string[]): string => {
    if (name === "1") return name;
    throw new Error("there is no such voice");
  };
  for (const isSsml of [null, true, false]) {
    try {
      const { piece, spokenChars, cautions } = parseMarkup(text, isSsml, findVoice);
      assert.equal(writtenText(piece), text);
      assert.ok(spokenChars >= 0);
      assert.ok(
        cautions.length <= 16 && cautions.every((caution) => /^[ -~]{1,200}$/.test(caution)),
        `${cautions}`,
      );
      if (typeof piece === "string") continue;
      const { edits, points, runs } = piece;
      const spoken = spokenText(piece);
      assertOrdered(edits, text.length);
      assertOrdered(runs, spoken.length);
      assertOrdered(
        points.map(({ at }) => ({ from: at, to: at })),
        spoken.length,
      );
      for (const { pauseS } of askedPauses(piece)) assert.ok(pauseS >= 0 && pauseS <= MAX_PAUSE_S);
      for (const { manner } of runs) {
        const { rate, pitch, pitchHz, addedHz, gain } = manner;
        assert.ok(rate >= 0.5 && rate <= 2 && pitch >= 0.5 && pitch <= 2 && gain >= 0 && gain <= 2);
        assert.ok((pitchHz === null || (pitchHz >= 60 && pitchHz <= 400)) && Math.abs(addedHz) <= 200);
      }
    } catch (error) {
      if (!(error instanceof MarkupError)) throw error;
      assert.match(error.message, /^line \d+, column \d+: [^\n]+[^.]$/);
      assert.ok(error.message.length < 500, error.message);
    }
  }
}

/** Fails if spans overlap or leave the text. */
function assertOrdered(spans: readonly { readonly from: number; readonly to: number }[], end: number): void {
  let at = 0;
  for (const { from, to } of spans) {
    assert.ok(from >= at && to >= from, `${from} to ${to} after ${at}`);
    at = to;
  }
  assert.ok(at <= end, `${at} of ${end}`);
}
