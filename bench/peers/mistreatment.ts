import { TEN_WORDS } from "../load/service-speed.ts";
import { TIMEOUT } from "./ask.ts";
import type { Subject } from "./subject.ts";

export interface MistreatmentFigures {
  /** Processor time after the client left; whether the server came to rest. */
  readonly afterLeaving: { readonly cpuS: number; readonly ends: boolean };
  readonly badInput: {
    /** Inputs that got a 4xx or, from the tenth on, sound, and after which the next request was answered. */
    readonly handled: number;
    /** Answer to each. */
    readonly answers: Readonly<Record<string, string>>;
  };
}

const LONG = TEN_WORDS.join(" ");

export async function mistreat(subject: Subject): Promise<MistreatmentFigures> {
  return { afterLeaving: await cpuAfterLeaving(subject), badInput: await answersToBadInput(subject) };
}

/**
 * A client asks for about three minutes of speech and disconnects after 0.3 s.
 *
 * @returns the processor time that the server goes on to spend on it, at most for 10 s
 */
async function cpuAfterLeaving(subject: Subject): Promise<MistreatmentFigures["afterLeaving"]> {
  await subject.say([LONG, LONG, LONG].join(" "), { leaveAfterMs: 300 });
  const cpuS = subject.cpuS();
  const ends = await subject.rests(10_000);
  const spentS = subject.cpuS() - cpuS;
  if (!ends) await subject.restart();
  return { cpuS: spentS, ends };
}

async function answersToBadInput(subject: Subject): Promise<MistreatmentFigures["badInput"]> {
  const answers: Record<string, string> = {};
  let handled = 0;
  for (const [index, [name, body]] of badBodies(subject).entries()) {
    const { status, firstAudioMs, failure } = await subject.send(body, { timeoutMs: 5_000 });
    if (!(await subject.rests(5_000))) await subject.restart();
    const next = await subject.say(TEN_WORDS[0], { timeoutMs: 15_000 });
    const isAnswered = next.firstAudioMs !== null;
    if (!isAnswered) await subject.restart();
    const isRefused = status >= 400 && status < 500;
    const isSpoken = firstAudioMs !== null && (failure === null || failure === TIMEOUT);
    if (isAnswered && (isRefused || (isSpoken && index >= MUST_BE_REFUSED))) handled += 1;
    const answer = isSpoken ? "sound" : (failure ?? (status === 200 ? "200 without sound" : `${status}`));
    answers[name] = isAnswered ? answer : `${answer}; the next request failed`;
  }
  return { handled, answers };
}

const MUST_BE_REFUSED = 9;

function badBodies({ contender }: Subject): readonly (readonly [name: string, body: string])[] {
  const withText = (text: unknown) => JSON.stringify(contender.body(text));
  return [
    ["empty text", withText("")],
    ["spaces", withText("  \n ")],
    ["no text", withText(undefined)],
    ["null as text", withText(null)],
    ["a number as text", withText(42)],
    ["a list as text", withText([LONG])],
    ["a list as body", "[]"],
    ["no body", ""],
    ["broken JSON", '{"input": "x'],
    ["20,000 characters", withText(LONG.repeat(20).slice(0, 20_000))],
    ["one word of 4,000 letters", withText("a".repeat(4_000))],
    ["emoji alone", withText("\u{1F600}\u{1F389}\u{1F680}")],
    ["null characters", withText("Hello\u0000 there\u0000.")],
    ["SSML", withText('<speak>Hello <break time="500ms"/> there.</speak>')],
    ["three scripts", withText("Здравствуйте, 你好, مرحبا.")],
  ];
}
