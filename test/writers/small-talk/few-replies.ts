import type { BankReply, CannedReplies } from "../../../src/writers/small-talk/canned-replies.ts";

/** Three acts and three replies, for an encoder with two outputs. */
export function fewReplies(changes: Partial<CannedReplies> = {}): CannedReplies {
  return {
    encoder: { sha256: "0".repeat(64), bytes: 1 },
    acts: [
      { name: "greeting", answered: "form", polarity: "plain", least: 0.5, lines: ["Hello there."] },
      { name: "unheard", answered: "form", polarity: "plain", least: 0.5, lines: ["Say it again?"] },
      { name: "grief", answered: "told", polarity: "bad", least: 0.5, lines: ["I'm so sorry.", "How sad."] },
    ],
    tones: [
      { name: "joy", polarity: "good", fits: [], lines: ["How nice!"] },
      { name: "blow", polarity: "bad", fits: [], lines: ["Oh no."] },
      { name: "plain", polarity: "plain", fits: [], lines: ["I see."] },
    ],
    unknown: ["I don't know."],
    bank: SMALL_BANK,
    matrices: {
      actWeights: Float32Array.of(0, 0, 0, -9, 0, 9),
      actBiases: Float32Array.of(0, 0, 0),
      toneWeights: Float32Array.of(9, 0, -9, 9, 0, 0),
      toneBiases: Float32Array.of(0, 0, -9),
      projection: Float32Array.of(1, 0, 0, 1),
      newest: Int8Array.of(127, 0, 126, 16, 0, 127),
      previous: Int32Array.of(-1, 0, 1),
      previousVectors: Int8Array.of(127, 0, 0, 127),
    },
    ...changes,
  };
}

export const SMALL_BANK: readonly BankReply[] = [
  { reply: "A blue one.", contextWords: [], tone: 0, isInRole: false, isAnswer: true },
  { reply: "Ask your cousin.", contextWords: ["cousin"], tone: 0, isInRole: false, isAnswer: true },
  { reply: "Aye, I sailed there!", contextWords: [], tone: 0, isInRole: true, isAnswer: true },
];
