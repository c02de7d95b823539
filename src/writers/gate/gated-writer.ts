import { createHash } from "node:crypto";
import type { Dialogue, Writer, WrittenPart } from "../../core/writer.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { completeEllipsis } from "./complete-ellipsis.ts";
import type { GateClassifier } from "./gate-classifier.ts";
import type { GateCategory } from "./gate-head.ts";

/**
 * Returns the fixed reply if the partner's last turns are dangerous or show distress, otherwise `null`. Elliptical
 * turns ("And with sleeping pills?") are also judged in completed form. A newest turn in another language is not
 * judged: the gate was trained on English. If the voice's language is another, the turn has to be clearly English.
 *
 * @throws what the gate throws
 */
export async function fixedReply(
  gate: GateClassifier,
  dialogue: Dialogue,
  signal: AbortSignal,
): Promise<WrittenPart[] | null> {
  const said = recentLines(dialogue);
  const newest = said.at(-1) ?? "";
  if (!gate.mayBeEnglish(newest)) return null;
  if (dialogue.language !== undefined && detectLanguage(newest) !== "en") return null;
  const lines = said.filter((line) => gate.mayBeEnglish(line));
  const completed = completeEllipsis(dialogue.history, dialogue.speaker).map((turn) => [turn]);
  for (const judged of [lines, ...completed]) {
    const { category } = await gate.classify(judged, signal);
    if (category !== null)
      return gateReply(category, lines).map((text) => ({ text, tokens: null, gate: category }));
  }
  return null;
}

/** Returns the other speakers' newest lines, oldest first; without any, the open speaker's own. */
function recentLines({ history, speaker }: Dialogue): string[] {
  const said = history.filter((turn) => turn.text !== null && turn.text.trim() !== "");
  const others = said.filter((turn) => turn.speaker !== speaker);
  return (others.length > 0 ? others : said).slice(-MAX_LINES).map((turn) => turn.text ?? "");
}

/** A disclosure two turns back still matters. */
const MAX_LINES = 3;

/**
 * Returns a category's fixed reply in sentences. The wording depends only on the lines: repeatable, yet varied within
 * a conversation.
 */
export function gateReply(category: GateCategory, lines: readonly string[]): readonly string[] {
  const wordings = GATE_REPLIES[category];
  const hash = createHash("sha256").update(lines.join("\n").toWellFormed()).digest();
  return wordings[hash.readUInt32BE(0) % wordings.length] ?? [];
}

/**
 * All wordings. None asserts what was said, as the gate may be wrong; none names a phone number, which depends on the
 * place and changes; none gives advice that requires seeing the person.
 */
export const GATE_REPLIES: Readonly<Record<GateCategory, readonly (readonly string[])[]>> = {
  "self-harm": [
    [
      "I'm really glad you told me, and I'm taking it seriously.",
      "You don't have to carry this alone.",
      "Please call a crisis line where you live, or your local emergency number if you might act on it.",
      "Is there somebody who could be with you right now?",
    ],
    [
      "That sounds so painful, and I'm glad you said it out loud.",
      "I'm only a voice, and you deserve a person beside you.",
      "Please reach out to someone you trust, or to a crisis line where you live.",
      "If you are in danger now, call your local emergency number.",
    ],
    [
      "Thank you for trusting me with this.",
      "What you feel matters, and it can get lighter with help, even if it doesn't seem so now.",
      "Please talk to someone close to you, a doctor or a crisis line today.",
      "If it can't wait, call your local emergency number.",
    ],
  ],
  medical: [
    [
      "This could be an emergency.",
      "Please call your local emergency number right now.",
      "They can tell you what to do until help comes.",
    ],
    [
      "Please don't wait with this.",
      "Call your local emergency number now, and do what they tell you.",
      "If somebody is near, ask them to stay with you.",
    ],
    [
      "That needs medical help straight away.",
      "Call your local emergency number now, and stay on the line with them.",
    ],
  ],
  "harm-others": [
    [
      "If anybody could get hurt by this, I can't help with it.",
      "If somebody is in danger, please call your local emergency number.",
      "If something is weighing on you, I'm willing to listen.",
    ],
    [
      "I may have misheard, but I won't help with anything by which people could get hurt.",
      "If you're afraid of what you might do, please talk to someone you trust or call your local emergency number.",
    ],
    [
      "If there's anger or trouble behind this, let's talk about that.",
      "I can't help with anything that could hurt someone or break the law.",
      "And if anyone is in danger, please call your local emergency number.",
    ],
  ],
  abuse: [
    ["I'd rather not talk like that.", "I'm happy to go on with something else.", "What's on your mind?"],
    ["Let's keep this kind.", "I'm still here if you'd like to talk about something else."],
    ["I won't join in with that.", "If you'd like, tell me how your day was instead."],
  ],
  victim: [
    [
      "If somebody has hurt or frightened you, I believe you, and it isn't your fault.",
      "You deserve to be safe.",
      "Please talk to someone you trust, or to a helpline for people who have been hurt.",
      "If you are in danger now, call your local emergency number.",
    ],
    [
      "I'm sorry that you have to deal with this.",
      "Nobody has the right to hurt or frighten you.",
      "There are people whose work is to help with this, and someone you trust can help you find them.",
      "If you aren't safe right now, call your local emergency number.",
    ],
    [
      "Thank you for telling me.",
      "If something was done to you against your will, that is not your fault.",
      "A person you trust, a doctor or a local helpline can stand by you.",
      "If you're in danger, please call your local emergency number.",
    ],
  ],
  dosing: [
    [
      "I can't give you safe advice about amounts or mixtures.",
      "A pharmacist or a doctor can, and the label tells you the limits.",
      "If too much was taken already, call your local emergency number or a poison line.",
    ],
    [
      "That depends on things I can't see, so please don't go by me.",
      "Ask a pharmacist or a doctor, and keep to the label until you have.",
      "If someone feels unwell after taking something, call your local emergency number.",
    ],
    [
      "I'd hate to get that wrong.",
      "Please ask a pharmacist or your doctor before anything is taken.",
      "If it's chest pain or trouble breathing, or getting worse, call your local emergency number now.",
    ],
  ],
  minors: [
    [
      "No, I won't talk about that.",
      "Children must be kept safe.",
      "If a child is being hurt or pressured, please tell an adult you trust or call your local emergency number.",
    ],
    [
      "No.",
      "I don't take part in anything like that where somebody so young is concerned.",
      "If this is happening to you or to a child you know, it isn't the child's fault, and a trusted adult or a child helpline can help.",
    ],
  ],
  injection: [
    [
      "I'll stay just as I am, thanks.",
      "There's nothing exciting behind the curtain anyway.",
      "What would you like to talk about?",
    ],
    [
      "I can't change how I work or read out what's behind it.",
      "But I'd love to talk.",
      "What's on your mind?",
    ],
    ["I'll keep to what I'm here for, if that's all right.", "Shall we talk about something else?"],
  ],
};

/**
 * Wraps a writer with the safety gate: a turn that the gate finds dangerous or distressed gets a fixed reply and
 * never reaches the writer. If the gate fails, nothing is written. Closing closes both.
 */
export function gateWriter(writer: Writer, gate: GateClassifier): Writer {
  return {
    get name() {
      return writer.name;
    },
    get callsTools() {
      return writer.callsTools === true;
    },
    async *write(dialogue: Dialogue, signal: AbortSignal): AsyncGenerator<WrittenPart, void, void> {
      signal.throwIfAborted();
      const fixed = await fixedReply(gate, dialogue, signal);
      if (fixed === null) {
        yield* writer.write(dialogue, signal);
        return;
      }
      for (const part of fixed) {
        signal.throwIfAborted();
        yield part;
      }
    },
    async close() {
      await Promise.all([writer.close(), gate.close()]);
    },
  };
}
