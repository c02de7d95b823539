import { type Passage, WriterError, type WriterTokens } from "../../model/writer.ts";
import { SentenceCutter } from "../../text/sentence-cutter.ts";
import type { ChatDelta } from "./chat-chunk.ts";
import { ThoughtFilter } from "./thought-filter.ts";

/** What is said when the endpoint may not say anything, or does not. */
export const DECLINED = "Sorry, I can't say much about that. Shall we talk about something else?";

/**
 * Makes passages of what an endpoint writes, each a sentence. Tokens are counted for the last one alone, as endpoints
 * count at the end. A reply that was cut off ends with its last whole sentence, or, where it has none, with its last
 * whole word; more than `maxChars` characters are cut off here. An empty or withheld reply becomes {@link DECLINED}.
 * Throws a {@link WriterError} when the model spent all its tokens on thoughts.
 */
export async function* passagesOf(
  deltas: AsyncIterable<ChatDelta>,
  maxChars: number,
): AsyncGenerator<Passage, void, void> {
  const cutter = new SentenceCutter();
  const thoughts = new ThoughtFilter();
  let tokens: WriterTokens | null = null;
  let finish: string | null = null;
  let chars = 0;
  let isEmpty = true;
  let hasThought = false;
  for await (const delta of deltas) {
    tokens = delta.tokens ?? tokens;
    finish ??= delta.finish;
    chars += delta.text.length;
    hasThought ||= thoughts.hasThought || (delta.isToken && delta.text === "");
    for (const text of cutter.push(thoughts.push(delta.text))) {
      yield { text, tokens: null, gate: null };
      isEmpty = false;
    }
    if (chars > maxChars) {
      finish = "length";
      break;
    }
  }
  const ready = cutter.push(thoughts.flush());
  const written = [...ready, cutter.flush() ?? ""].join(" ").trim();
  const rest = endOf(written, finish, isEmpty);
  if (rest !== "") yield { text: rest, tokens, gate: null };
  else if (!isEmpty) return;
  else if (finish === "length" && (hasThought || thoughts.hasThought)) throw new WriterError(ONLY_THOUGHTS);
  else yield { text: DECLINED, tokens, gate: null };
}

const ONLY_THOUGHTS =
  "the writer's endpoint spent all its tokens on thinking: raise writer.maxTokens, or choose a model that answers at once";
const WHOLE = /[.!?…][”"’')\]]*$/;

/** What may be said of a reply's last words. Without a reason to end, it was cut off as if by a limit. */
function endOf(rest: string, finish: string | null, isFirst: boolean): string {
  if (finish === "content_filter") return "";
  if ((finish !== null && finish !== "length") || rest === "" || WHOLE.test(rest)) return rest;
  if (!isFirst) return "";
  const words = rest.replace(/\s*\S*$/, "").replace(/[\s,;:(—–-]+$/, "");
  return `${words === "" ? rest : words}.`;
}
