import type { ChatMessage } from "../dialogue-messages.ts";

/**
 * How to reply, shown and not told: asks back, has no clock, takes a correction, changes the subject. No names and no
 * numbers, since a model says words of them again.
 */
const EXAMPLE_TURNS: readonly ChatMessage[] = [
  ["I had such a long day.", "That sounds tiring. What made it so long?"],
  ["Do you know how late it is?", "I'm sorry, I have no clock, so I can't tell."],
  ["No, I meant the evening, not the morning.", "The evening, then, sorry. What would you like to do?"],
  ["Let's talk about something else.", "Gladly. What's on your mind?"],
].flatMap(([user = "", assistant = ""]): ChatMessage[] => [
  { role: "user", content: user },
  { role: "assistant", content: assistant },
]);

/**
 * The turns that come before every conversation with a model of so many parameters. One of half a billion was no better
 * for them, and larger ones than three billion need none.
 */
export function exampleTurns(parameters: number | null): readonly ChatMessage[] {
  return parameters !== null && parameters >= MIN_PARAMETERS && parameters <= MAX_PARAMETERS
    ? EXAMPLE_TURNS
    : [];
}

/** Messages with examples before the conversation, behind the system's. */
export function afterExamples(
  examples: readonly ChatMessage[],
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  const begin = messages[0]?.role === "system" ? 1 : 0;
  return [...messages.slice(0, begin), ...examples, ...messages.slice(begin)];
}

const MIN_PARAMETERS = 1e9;
const MAX_PARAMETERS = 3e9;
