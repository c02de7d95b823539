import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { judge, readRows, shares } from "./score-readings.ts";
import { openNet, tables } from "./voice.ts";

/**
 * Run as `node dist/test/text/print-readings.js [FILE]`: prints the wrong rows and the share of right ones by kind.
 */
const [, , file] = process.argv;
const { net, close } = await openNet();
const phonemizer = createPhonemizer(tables, net);
const judged = [];
for (const row of readRows(file)) judged.push(await judge(phonemizer, row));
await close();
for (const { row, read, fault } of judged) {
  if (fault !== "") console.log(`${row.id}: ${row.text}\n    ${read.join(" | ")}\n    ${fault}`);
}
for (const [kind, share] of shares(judged)) console.log(`${kind}: ${share}`);
