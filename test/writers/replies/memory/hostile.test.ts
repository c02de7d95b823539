import assert from "node:assert/strict";
import { test } from "node:test";
import { limitsOf } from "../../../../src/writers/heard/limits.ts";
import { asksView, doubtsUs } from "../../../../src/writers/heard/turn-form.ts";
import { wholeTurns } from "../../../../src/writers/heard/whole-turn.ts";
import { deskClauses, isOfTheDesk } from "../../../../src/writers/replies/desk.ts";
import { indirectQuestion } from "../../../../src/writers/replies/indirect-question.ts";
import { ownCorrection } from "../../../../src/writers/replies/memory/corrections.ts";
import { EVIDENCE, evidenceOf, recallable } from "../../../../src/writers/replies/memory/recall.ts";
import { remembered } from "../../../../src/writers/replies/memory/remembered.ts";
import { statementsOf } from "../../../../src/writers/replies/memory/statements.ts";
import { sumOverTurns } from "../../../../src/writers/replies/sums/amounts.ts";
import fc from "../../../properties.ts";
import { byTurns } from "../../dialogues.ts";

/** What the forms look for, in any order: of such texts a bad expression would take for ever. */
const WORDS = (
  "and ,so no not allergic to nuts i have £5 twelve chairs each how many left what is the who which do you think make it " +
  "friday it's 10% plus 5 that divided by a-b' a - ... ? ! ; one hundred thousand point of us can't eat cake, or don't " +
  "like so , You are Ann , my sister Ada called Rex a day at 7.30 takes two hours out of 40 when does she start which gate ends \ud800 \u0301 ’ don’t 日本"
).split(" ");
const piece = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 })
  .map((words) => words.join(" "));
/** A word that does not end, with something behind it that no form allows. */
const endless = fc
  .tuple(piece, fc.constantFrom("a", "ab", "é", "'", "-"), fc.constantFrom("1", "/", "_", "", " x/"))
  .map(([before, letters, after]) => `${before} ${letters.repeat(1_490 / letters.length)}${after}`);
const text = fc.oneof({ weight: 4, arbitrary: repeated() }, { weight: 1, arbitrary: endless });

function repeated(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(piece, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 1, 30, 400))
    .map(([pieces, times]) => `${pieces.join(" ")} `.repeat(times).slice(0, 8_000));
}

test("whatever is said, looking for what was told ends, and what is found is no longer than what was said", () => {
  fc.assert(
    fc.property(text, text, (told, newest) => {
      const history = byTurns([told, "That's 12.", newest]);
      const recalled = recallable(newest, history.length - 1, statementsOf(history, "0"));
      for (const { features } of recalled) {
        const evidence = evidenceOf(features, 0.5);
        assert.equal(evidence.length, EVIDENCE);
        assert.ok(evidence.every((value) => value >= 0 && value <= 2));
      }
      const most = told.length + newest.length + 100;
      for (const found of [
        sumOverTurns(history, "1"),
        remembered(history, "1", { heard: new Set(), chance: 0 }),
        ownCorrection(newest),
        indirectQuestion(newest),
        ...deskClauses(told.slice(0, 2_000), newest),
        ...recalled.map(({ saidBack }) => saidBack),
      ])
        assert.ok(found === null || (found.length > 0 && found.length <= most), String(found));
      limitsOf(history, "1").areBrokenBy(newest);
      wholeTurns(byTurns([told.slice(0, 400), "It is.", newest.slice(0, 400)]), "1");
      isOfTheDesk(newest, told.slice(0, 2_000), new Set());
      asksView(newest);
      doubtsUs(newest);
    }),
  );
});
