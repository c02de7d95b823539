/**
 * Prints what might be said to turns of conversations, a turn a line, to be judged: `{"id", "before": […], "newest",
 * "offers": [{"text", "origin", "nearness", "context"}]}`. Needs `npm run build`; with `--model FILE` the small writer adds what it would say.
 *
 *     node training/replies/candidates.mjs [--model FILE] --from talks/follow-ups.jsonl > candidates.jsonl
 *     node training/replies/candidates.mjs [--model FILE] --every N [--skip FIRST] > candidates.jsonl
 *
 * With `--every`, the conversations are every Nth of those that the bank is made of, whose own replies are left out.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { embeddedWriter } from "../../dist/src/server/embedded-writer.js";
import { plainWords } from "../../dist/src/writers/heard/said-before.js";
import { openGgufWriter } from "../../dist/src/writers/llama/gguf-writer.js";
import { openReplySource } from "../../dist/src/writers/replies/open-reply-source.js";

import { readConversations } from "./read.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    model: { type: "string" },
    every: { type: "string" },
    from: { type: "string" },
    skip: { type: "string", default: "0" },
  },
});
const signal = new AbortController().signal;
const source = await openReplySource();
if (values.from === undefined && values.every === undefined)
  throw new Error("say which talks with --from FILE, or which share of all conversations with --every N");
const model = values.model === undefined ? null : await openGgufWriter(embeddedWriter(values.model, null));
let id = 0;
for (const { turns, instructions } of conversations()) {
  for (const [n, [role]] of turns.entries()) {
    if (role !== ">") continue;
    const history = turns
      .slice(0, n + 1)
      .map(([who, text]) => ({ speaker: who === ">" ? "0" : "1", text, audio: null }));
    const own = turns[n + 1]?.[1];
    // Of openings, which are plenty, every third.
    if (values.every !== undefined && n === 0 && id % 3 !== 0) continue;
    const dialogue = {
      history,
      speaker: "1",
      temperature: 0,
      seed: 0n,
      ...(instructions && { instructions }),
    };
    const ready = await source.allOffers(dialogue, signal);
    const offers = ready
      .filter(({ text }) => values.every === undefined || plainWords(text) !== plainWords(own ?? ""))
      .map(({ text, origin, nearness, context }) => ({ text, origin, nearness, context }));
    if (model !== null && instructions === undefined) {
      const written = [];
      for await (const { text } of model.write(dialogue, signal)) written.push(text);
      if (written.length > 0)
        offers.push({ text: written.join(" "), origin: "model", nearness: 0, context: 0 });
    }
    if (offers.length > 0)
      console.log(
        JSON.stringify({
          id: `${id}.${n}`,
          before: history.slice(0, -1).map(({ speaker, text }) => `${speaker === "0" ? "P" : "V"}: ${text}`),
          newest: history.at(-1).text,
          ...(own && values.every === undefined && { own }),
          offers,
        }),
      );
  }
  id++;
}
await model?.close();
await source.close();

function* conversations() {
  if (values.from !== undefined) {
    for (const line of readFileSync(values.from, "utf8").trim().split("\n")) {
      const talk = JSON.parse(line);
      yield {
        turns: talk.turns.flatMap(({ u, a }) => [
          [">", u],
          ["<", a],
        ]),
        instructions: talk.instructions,
      };
    }
    return;
  }
  const all = readConversations([join(HERE, "pairs"), join(HERE, "../writer/data")]);
  const every = Number(values.every);
  // Those of a single turn are many, and of them a tenth as large a share will do.
  const [longer, short] = [
    all.filter(({ turns }) => turns.length > 2),
    all.filter(({ turns }) => turns.length <= 2),
  ];
  for (const [some, step] of [
    [longer, every],
    [short, every * 10],
  ])
    for (let n = Number(values.skip); n < some.length; n += step) yield { turns: some[n].turns };
}
