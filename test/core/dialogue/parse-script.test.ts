import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseScript, ScriptError } from "../../../src/core/dialogue/parse-script.ts";

/** Lists the lines as `Name (direction) #scene: words`. */
function read(script: string, named: readonly string[] = []): string[] {
  return parseScript(script, named).lines.map(({ speaker, direction, scene, text }) => {
    const how = direction === null ? "" : ` (${direction})`;
    return `${speaker}${how}${scene === null ? "" : ` #${scene}`}: ${text}`;
  });
}

function refused(script: string, message: RegExp): void {
  assert.throws(
    () => parseScript(script),
    (error) => error instanceof ScriptError && message.test(error.message),
  );
}

describe("parseScript", () => {
  const READ: readonly (readonly [claim: string, script: string, lines: readonly string[]])[] = [
    ["reads a line for each name", "Anna: Hello.\nBen: Hi.", ["Anna: Hello.", "Ben: Hi."]],
    [
      "continues a line until the next name",
      "Anna: One.\nTwo.\n\nThree.\n\nBen: Four.\n\nAnna: Five.",
      ["Anna: One.\nTwo.\n\nThree.", "Ben: Four.", "Anna: Five."],
    ],
    ["takes a name alone on its line", "Anna:\nHello.\nBen:\nHi.", ["Anna: Hello.", "Ben: Hi."]],
    [
      "takes no name from within a line",
      "Anna: Remember. Note: this.\nBen: At 10:30, see https://example.org: fine.",
      ["Anna: Remember. Note: this.", "Ben: At 10:30, see https://example.org: fine."],
    ],
    [
      "takes no numbered step and no sentence for a name",
      "Anna: Listen.\n1. First: eggs.\nthen this happened: milk.\nAnna: Done.",
      ["Anna: Listen.\n1. First: eggs.\nthen this happened: milk.", "Anna: Done."],
    ],
    [
      "takes no paragraph's beginning for a name if it ends in a lower-case word",
      "Anna: Listen.\n\nListen to me: go.\n\nRule one: run.\n\nBen: Yes.",
      ["Anna: Listen.\n\nListen to me: go.\n\nRule one: run.", "Ben: Yes."],
    ],
    [
      "keeps titles, initials and particles in names",
      "Dr. Smith: A.\nMrs. O’Neil: B.\nLudwig van Beethoven: C.\nJ. R.: D.\nThe Old Man: E.\nAnna & Ben: F.",
      [
        "Dr. Smith: A.",
        "Mrs. O’Neil: B.",
        "Ludwig van Beethoven: C.",
        "J. R.: D.",
        "The Old Man: E.",
        "Anna & Ben: F.",
      ],
    ],
    [
      "reads other scripts, right-to-left marks and the full-width colon",
      "Дмитрий: Да.\n李雷：你好。\n\u200fשרה\u200f: שלום",
      ["Дмитрий: Да.", "李雷: 你好。", "שרה: שלום"],
    ],
    [
      "takes two spellings of a name for one speaker, named as first written",
      "Anna: A.\nBEN: B.\nANNA: C.\nanna: D.\nBen: E.",
      ["Anna: A.", "BEN: B.", "Anna: C.", "Anna: D.", "BEN: E."],
    ],
    [
      "takes lower-case names that recur",
      "anna: hi\nben: ho\nanna: hey\nben: yes",
      ["anna: hi", "ben: ho", "anna: hey", "ben: yes"],
    ],
    [
      "takes names of an object's members",
      "constructor: A.\n\ntoString: B.\nconstructor: C.\ntoString: D.",
      ["constructor: A.", "toString: B.", "constructor: C.", "toString: D."],
    ],
    [
      "drops Markdown around a name",
      "**Anna:** A.\n\n**Ben**: B.\n\n*Anna*: C.\n\n__Ben__ [sadly]: D.",
      ["Anna: A.", "Ben: B.", "Anna: C.", "Ben (sadly): D."],
    ],
    [
      "reads directions at the name, on either side of the colon",
      "Anna (calm): A.\nBen: (excited) B.\nAnna (slow): [sad] C.\nBen: (555) 1234.\nAnna: [pause:1s] D.",
      [
        "Anna (calm): A.",
        "Ben (excited): B.",
        "Anna (slow, sad): C.",
        "Ben: (555) 1234.",
        "Anna: [pause:1s] D.",
      ],
    ],
    [
      "leaves out stage directions on a line of their own",
      "Anna: A.\n(A door slams.)\nB.\n[Exit Ben]\nBen: C.\nBen: D.\nAnna: E.",
      ["Anna: A.", "Anna: B.", "Ben: C.", "Ben: D.", "Anna: E."],
    ],
    [
      "begins scenes at headings and rules",
      "# Act one\nAnna: A.\n---\nBen: B.\n\n## Act two ##\nAnna: C.\n* * *\nBen: D.",
      ["Anna #Act one: A.", "Ben #: B.", "Anna #Act two: C.", "Ben #: D."],
    ],
    [
      "skips front matter",
      "---\ntitle: A visit\nauthor: Us\n---\nAnna: A.\nBen: B.",
      ["Anna: A.", "Ben: B."],
    ],
    ["reads Windows' line ends", "Anna: A.\r\nB.\r\n\r\nBen: C.\r\n", ["Anna: A.\r\nB.", "Ben: C."]],
  ];
  for (const [claim, script, lines] of READ) test(claim, () => assert.deepEqual(read(script), lines));

  test("refuses a label that may be prose, and takes it if it is named as a speaker", () => {
    const script = "Anna: Listen.\nNote: this is it.\nBen: Yes.\nAnna: I do.\nno name here.\nBen: Good.";
    refused(script, /^line 2: "Note" may be a speaker or part of the text: name it in voices/);
    assert.equal(read(script, ["NOTE"])[1], "Note: this is it.");
  });

  test("refuses text that no speaker says, and a speaker who says nothing", () => {
    refused("Once upon a time.\nAnna: Hi.\nAnna: Ho.", /^line 1: no speaker is named/);
    refused("Anna: Hi.\n\nBen:\n\nAnna: Ho.\nBen: x", /^line 3: "Ben" says nothing/);
  });

  test("reads the longest heading in linear time", () => {
    for (const [heading, title] of [
      [`# a${" ".repeat(90_000)}x`, /^a +x$/],
      [`# a${"#".repeat(90_000)}x`, /^a#+x$/],
      [`# a ${"# ".repeat(40_000)}`, /^a [# ]+$/],
      ["## Act  one ##  ", /^Act {2}one$/],
      ["#", /^$/],
    ] as const)
      assert.match(parseScript(`${heading}\nAnna: Hi.`).lines[0]!.scene!, title);
  });

  test("gives each line's number, and its place in the script", () => {
    const script = "\n\nAnna (calm):  Hello.\n\nBen: Hi.";
    const { lines, speakers, directions } = parseScript(script);
    assert.deepEqual([speakers, directions], [["Anna", "Ben"], []]);
    assert.deepEqual(
      lines.map(({ number }) => number),
      [3, 5],
    );
    for (const { from, text } of lines) assert.equal(script.slice(from, from + text.length), text);
  });
});
