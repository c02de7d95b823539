import assert from "node:assert/strict";
import { test } from "node:test";
import { openSpokenPhonemes, openTextReader } from "../../../src/engines/prosody/read-text.ts";
import { embeddedCheckpoint } from "../../../src/models/installed-checkpoint.ts";
import { phonemeIds } from "../../../src/text/phonemes/sentence-phonemes.ts";
import { loadTextTables } from "../../../src/text/tables/text-tables.ts";

const RUN_ON = "and then we walked on and on ".repeat(40).trim();
const TEXTS = [
  "Meet me at 5 p.m. tomorrow. Bring Dr. Lee at 6 p.m.",
  `${RUN_ON}.`,
  `${RUN_ON}, as we said; ${RUN_ON}`,
  "Say [tomato](/təmˈɑtoʊ/), please! 🙂",
  "mumble".repeat(120),
  "Hmm . . . maybe.",
  "",
];

test("openSpokenPhonemes returns the phonemes that the voice speaks", async () => {
  const { dir } = embeddedCheckpoint;
  const tables = await loadTextTables(dir);
  const printed = await openSpokenPhonemes(dir, { tables });
  const reader = await openTextReader(dir, { tables });
  try {
    for (const text of TEXTS) {
      const spoken: (readonly number[])[] = [];
      for (const sentence of await reader.split(text))
        for (const { ids } of await reader.read(sentence.text)) spoken.push(ids);
      const said = await printed.phonemes(text);
      assert.deepEqual(
        said.map((phonemes) => phonemeIds(phonemes, tables)),
        spoken,
        text,
      );
    }
    assert.deepEqual(await printed.phonemes("It opens at 5 p.m."), ["ˌɪt ˈOpᵊnz æt fˈIv pˌiˈɛm."]);
    assert.ok((await printed.phonemes(RUN_ON)).length > 1);
  } finally {
    await printed.close();
    await reader.close();
  }
});
