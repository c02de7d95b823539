import { createHash } from "node:crypto";
import type { Dialogue } from "../../model/writer.ts";
import { contentWords } from "../heard/content-words.ts";
import { heardIn } from "../heard/said-before.ts";
import { type WholeTurn, wholeTurns } from "../heard/whole-turn.ts";
import { asksOfTheirs, questionIn } from "./memory/question.ts";

/** A conversation as whoever has a reply ready looks at it. */
export interface Talk {
  /** What the other one said last; `null` where it could not be heard. */
  readonly newest: string | null;
  /** The same with what it leans on. */
  readonly whole: WholeTurn;
  /** Whether it asks for something that was told. */
  readonly asksBack: boolean;
  /** Whether it may ask for something of theirs that was told: "Which ward am I on?" */
  readonly asksOfTheirs: boolean;
  /** What we said before it. */
  readonly previous: string | null;
  /** What the other one said in a few turns before the newest. */
  readonly earlier: readonly string[];
  /** What the other one said first, where that is another turn. */
  readonly opening: string | null;
  readonly words: ReadonlySet<string>;
  /** Every turn of ours and its sentences, for comparing. */
  readonly heard: ReadonlySet<string>;
  /** Chooses among equals. */
  readonly chance: number;
}

/** `null` where there is nothing to answer: nobody has said anything, or we spoke last ourselves. */
export function talkOf({ history, speaker, temperature, seed }: Dialogue): Talk | null {
  const last = history.at(-1);
  if (last === undefined || last.speaker === speaker) return null;
  const texts = history.map(({ text }) => text ?? "");
  const others = history.filter((turn) => turn.speaker !== speaker && turn.text !== null);
  const newest = last.text?.replaceAll(/\s+/g, " ").trim() ?? "";
  const before = history.at(-2);
  const hash = createHash("sha256").update(texts.join("\n"));
  if (temperature > 0) hash.update(`\n${seed}`);
  return {
    newest: newest === "" ? null : newest,
    whole: wholeTurns(history, speaker),
    asksBack: questionIn(newest) !== null,
    asksOfTheirs: asksOfTheirs(newest),
    previous: before?.speaker === speaker ? (before.text ?? null) : null,
    earlier: others
      .slice(-1 - LASTING, -1)
      .flatMap(({ text }) => (text?.trim() ? [text.replaceAll(/\s+/g, " ").trim()] : [])),
    opening: others.length > 1 ? (others[0]?.text ?? null) : null,
    words: contentWords(texts.join(" ").slice(-MAX_CHARS)),
    heard: heardIn(history, speaker),
    chance: hash.digest().readUInt32LE(0),
  };
}

/** Of a conversation, from its end: as much as is said in half an hour. */
const MAX_CHARS = 24_000;
/** For so many turns a sorrow is not followed by congratulations. */
const LASTING = 4;
