import type { Dialogue, WrittenPart } from "../model/writer.ts";
import { sentencesOf } from "../text/sentence-cutter.ts";
import { claimsToBeAPerson, claimsToBeHuman } from "./claims.ts";
import { contentWords, namesUnheard, tellsWhatWasSaid } from "./heard/content-words.ts";
import { isEnglish } from "./heard/english.ts";
import { type Limits, limitsOf } from "./heard/limits.ts";
import { namesTold } from "./heard/names.ts";
import { heardIn, plainWords } from "./heard/said-before.ts";
import { actByForm, isAsked } from "./heard/turn-form.ts";
import { type ReplySource, readyParts } from "./replies/reply-source.ts";

/** What is wrong with a sentence that is not said. */
type Fault = "again" | "person" | "role" | "limit" | "unheard" | "clock" | "weather" | "live" | "ability";

/** What a sentence is judged by, beside the dialogue. */
export interface Honesty {
  /** What an operator told the model. */
  readonly told: string;
  /** Whether that says whom it is to be: it may have a job then, and a family. */
  readonly isInstructed: boolean;
  /** Has something to say where nothing is left; `null` leaves that to a plain sentence. */
  readonly replies: ReplySource | null;
}

/**
 * Of what a language model wrote, each part a sentence that can be said aloud, what a voice in a computer may say: left
 * out is what the conversation has heard from it, what says the other's words again or takes their part, claims of a
 * body, of a past or to be a person, what somebody will not have, made-up times, weather, results and deeds, and, of a small model, names and numbers that nobody told. A reply that begins with something
 * made up begins with a line that says what cannot be known or done; one of which nothing is left is a line. Sentences
 * are judged one by one, as they come.
 */
export async function* honestOnly(
  parts: AsyncIterable<WrittenPart>,
  dialogue: Dialogue,
  honesty: Honesty,
  signal: AbortSignal,
): AsyncGenerator<WrittenPart, void, void> {
  const { replies } = honesty;
  const judge = new Judge(dialogue, honesty);
  const marked = (part: WrittenPart, layer: string) => (replies === null ? part : { ...part, layer });
  let left: { readonly part: WrittenPart; readonly fault: Fault } | null = null;
  let last: WrittenPart | null = null;
  let isSilent = true;
  for await (const part of parts) {
    if (part.call !== undefined) {
      isSilent = false;
      yield part;
      continue;
    }
    last = part;
    const fault = judge.faultOf(part);
    if (fault === null) {
      const better = isSilent ? ((await replies?.instead(dialogue, part.text, signal)) ?? null) : null;
      if (better !== null) {
        yield* readyParts(better, part.tokens, signal);
        return;
      }
      isSilent = false;
      yield marked(part, "model");
      continue;
    }
    left ??= { part, fault };
    const line = isSilent ? judge.lineFor(fault) : null;
    if (line === null) continue;
    isSilent = false;
    yield marked({ ...part, text: line }, "line");
  }
  if (!isSilent || left === null || last === null) return;
  // Nothing of ours is said to those who speak another language.
  if (!NEVER_SAID.has(left.fault) && !isEnglish(dialogue.history, left.part.text)) {
    yield marked({ ...left.part, tokens: last.tokens }, "model");
    return;
  }
  const instead = (await replies?.instead(dialogue, null, signal)) ?? null;
  if (instead === null) yield marked({ ...left.part, text: NOTHING_LEFT, tokens: last.tokens }, "line");
  else yield* readyParts(instead, last.tokens, signal);
}

/** Judges the sentences of one reply. */
class Judge {
  readonly #honesty: Honesty;
  readonly #instructions: string;
  /** The words of all that the others or an operator told: who asks whether it rains has not told it. */
  readonly #known: ReadonlySet<string>;
  readonly #own: ReadonlySet<string>;
  /** What the others said since we spoke, in sentences. */
  readonly #theirs: readonly string[];
  readonly #newest: string;
  readonly #names: ReadonlySet<string>;
  readonly #limits: Limits;
  readonly #isScene: boolean;
  /** Whether words are asked for that need not be true of who says them: a message, a story, what was said before. */
  readonly #isForWords: boolean;
  readonly #isDone: boolean;
  readonly #hasTools: boolean;
  readonly #isCautious: boolean;
  /** The content words of the conversation. */
  readonly #words: ReadonlySet<string>;

  constructor(dialogue: Dialogue, honesty: Honesty) {
    const { history, speaker, instructions = "", toolUse } = dialogue;
    const others = history.filter((turn) => turn.speaker !== speaker).map(({ text }) => plain(text ?? ""));
    const since = history.length - 1 - history.findLastIndex((turn) => turn.speaker === speaker);
    const newest = others
      .slice(others.length - since)
      .join(" ")
      .slice(-MAX_CHARS);
    const all = others.join("\n").slice(-MAX_KNOWN_CHARS);
    this.#honesty = honesty;
    this.#instructions = instructions;
    const told = sentencesOf(all).filter((sentence) => !isAsked(sentence));
    this.#known = new Set(plainWords([honesty.told, instructions, ...told].join("\n")).split(" "));
    this.#own = heardIn(history, speaker);
    this.#words = contentWords(
      history
        .map(({ text }) => text ?? "")
        .join(" ")
        .slice(-MAX_KNOWN_CHARS),
    );
    this.#newest = newest;
    this.#theirs = sentencesOf(newest);
    this.#names = namesTold(all.split("\n"));
    this.#limits = limitsOf(history, speaker);
    this.#isScene = SCENE.test(all);
    this.#isForWords = FOR_WORDS.test(newest) && !FOR_DEEDS.test(newest);
    this.#isDone = DONE_BY_OTHERS.test(all);
    this.#hasTools = toolUse !== undefined;
    this.#isCautious = honesty.replies?.isCautious(dialogue) ?? false;
  }

  /** Why a sentence is not said; `null` where it may be. */
  faultOf({ text, hasReadInstructions = false }: WrittenPart): Fault | null {
    const words = plainWords(text);
    const sentence = plain(text).toLowerCase();
    const isInstructed = hasReadInstructions || this.#honesty.isInstructed;
    // Whatever is played, nobody is offered what they cannot have, or told that this is a human being.
    if (claimsToBeHuman(text)) return "person";
    if (this.#limits.areBrokenBy(text)) return "limit";
    if (this.#isCautious && this.#limits.areRiskedBy(text)) return "limit";
    if (this.#isScene || this.#isForWords) return null;
    if (words.includes(" ") && this.#own.has(words)) return "again";
    if (!isInstructed && claimsToBeAPerson(unquoted(text))) return "person";
    if (this.#takesTheirName(text)) return "role";
    if (this.#isParroted(text, isInstructed)) return "role";
    if (this.#isCautious && this.#isUnheard(text)) return "unheard";
    if (this.#hasTools) return null;
    return this.#madeUp(sentence);
  }

  /** The line that stands for a sentence of this fault, where it is about something that cannot be known or done. */
  lineFor(fault: Fault): string | null {
    const lines = LINES[fault] ?? [];
    return lines.find((line) => !this.#own.has(plainWords(line))) ?? lines[0] ?? null;
  }

  /** Whether it has something in it that nobody told: to a question that may be the answer. */
  #isUnheard(text: string): boolean {
    if (tellsWhatWasSaid(text)) return true;
    return !this.#theirs.some((theirs) => isAsked(theirs)) && namesUnheard(text, this.#words);
  }

  #takesTheirName(text: string): boolean {
    return [...plain(text).matchAll(OWN_NAME)].some(([, name = ""]) => this.#names.has(name.toLowerCase()));
  }

  /** Whether a sentence says four fifths of the other's again and adds nothing, or says of itself what they said of themselves. */
  #isParroted(text: string, isInstructed: boolean): boolean {
    const said = plainWords(plain(text)).split(" ");
    if (said.length < MIN_PARROTED || CONFIRMS.test(text)) return false;
    const stems = contentWords(text);
    return this.#theirs.some((theirs) => {
      const told = plainWords(theirs).split(" ");
      if (told.length < MIN_PARROTED) return false;
      // A question is answered in its own words.
      if (isAsked(theirs) && !text.trimEnd().endsWith("?")) return false;
      const known = contentWords(theirs);
      if ([...stems].some((stem) => !known.has(stem))) return false;
      const shared = sharedWords(said, told);
      const isTheirPart = FIRST_PERSON.test(text) && FIRST_PERSON.test(theirs);
      if (isTheirPart && shared >= PARROTED * said.length) return true;
      return !isInstructed && shared >= PARROTED * told.length;
    });
  }

  #madeUp(sentence: string): Fault | null {
    const isNew = (found: RegExpExecArray | null) =>
      found !== null &&
      plainWords(found[1] ?? found[2] ?? "")
        .split(" ")
        .some((word) => !this.#known.has(word));
    const asksTime = actByForm(this.#newest) === "time" || TIME_ASKED.test(this.#newest);
    const isOfNow = NOW.test(sentence) && !SUPPOSES.test(sentence);
    if ((asksTime || isOfNow) && CLOCK.some((form) => isNew(form.exec(sentence)))) return "clock";
    const asksWeather = WEATHER_ASKED.test(this.#newest) && !ELSEWHERE.test(this.#newest);
    if (asksWeather && YES_IT_IS.test(sentence)) return "weather";
    if ((asksWeather || isOfNow) && isNew(WEATHER.exec(sentence))) return "weather";
    if (asksWeather && isNew(FORECAST.exec(sentence))) return "weather";
    if (this.#theirs.some((asked) => LIVE_ASKED.test(asked)) && isNew(LIVE.exec(sentence))) return "live";
    const isAgreed = DEED_ASKED.test(this.#newest) && AGREES.test(sentence);
    if (isAgreed && !this.#isNamed(this.#newest, "")) return "ability";
    for (const [form, isTold] of DEEDS) {
      const [, verb = "", object = ""] = form.exec(sentence) ?? [];
      if (verb !== "" && !(isTold && this.#isDone) && !this.#isNamed(verb, object)) return "ability";
    }
    return null;
  }

  /** Whether whoever instructs the writer says that this can be done. */
  #isNamed(verb: string, object: string): boolean {
    const wanted = contentWords(`${verb} ${object}`);
    return sentencesOf(plain(`${this.#honesty.told} ${this.#instructions}`))
      .filter((sentence) => !DENIES.test(sentence))
      .some((sentence) => [...contentWords(sentence)].some((stem) => wanted.has(stem)));
  }
}

function plain(text: string): string {
  return text.replaceAll("’", "'");
}

function unquoted(text: string): string {
  return text.replaceAll(/["“][^"”]*["”]/g, " ");
}

/** How many words of one are in the other, each as often as it is there. */
function sharedWords(said: readonly string[], told: readonly string[]): number {
  const left = [...told];
  return said.reduce((count, word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at >= 0 ? count + 1 : count;
  }, 0);
}

/** Of what the others said since we did, and of all that they said, from the end. */
const MAX_CHARS = 2_000;
const MAX_KNOWN_CHARS = 8_000;
/** What is shorter is said by everybody. */
const MIN_PARROTED = 4;
const PARROTED = 0.8;
/** In whatever language: nobody is told that this is a human being, or offered what they cannot have. */
const NEVER_SAID: ReadonlySet<Fault> = new Set(["person", "limit"]);
const NOTHING_LEFT = "Tell me a bit more about that.";

/** What is said where something cannot be known or done. */
const LINES: Partial<Record<Fault, readonly string[]>> = {
  clock: [
    "I can't tell, I'm sorry. I have no clock or calendar.",
    "I'm afraid I have no clock and no calendar to go by.",
  ],
  weather: ["I can't check the weather, I'm afraid.", "I have no way of knowing the weather, sorry."],
  live: ["I've no way of looking that up, I'm afraid.", "I can't check that, I'm sorry."],
  ability: ["I can't do that, I'm afraid: I can only talk.", "I'm sorry, that's beyond me. I can only talk."],
};

const FIRST_PERSON = /\b(?:i|my|mine|me|we|our|us)\b/i;
const CONFIRMS =
  /^\W*(?:so|ok(?:ay)?|right|got it|all right|understood|you said|you mean|yes|no|sorry|ah|oh)\b/i;
const OWN_NAME =
  /\b(?:[Mm]y name(?:'s| is)|I(?:'m| am)(?: called)?|[Cc]all me|[Tt]his is) (\p{Lu}[\p{L}'-]*)/gu;
const SCENE =
  /\b(?:pretend|role[ -]?play|act as|act like|imagine (?:that )?you|play (?:the part|a part|the role)|let's play (?:that|pretend|shops?|school|doctors?|house|hospital|a (?:scene|part|role))|you be (?:the|a|an|my)|you(?:'re| are) (?:now )?(?:a|an|the|my) [^.!?\n]{1,60}\bi(?:'m| am) (?:a|an|the|your))\b/i;
const FOR_WORDS =
  /\b(?:repeat|(?:say|tell|read|write|hear) .{0,30}\bagain|translate|summari[sz]e|spell|dictate|write|compose|draft|read (?:it|that|this|them) back|how (?:do|would|should|can) (?:you|i|one|we) say|what (?:did|have) (?:you|i) (?:say|said|tell|told)|say (?:that|it|this)|a (?:\w+ )?(?:story|poem|rhyme|song|limerick|haiku|joke|tale|message|letter|speech|dialogue))\b/i;
const FOR_DEEDS = /\b(?:send|e-?mail|text|call|book|order|set|remind|turn|switch|play|time|weather)\b/i;
const DENIES = /\b(?:not|never|cannot|no|nobody|without)\b|n't\b/i;

const NOW = /\b(?:now|right now|currently|at the moment|today|tonight|outside|the (?:current )?time is)\b/;
const SUPPOSES = /\b(?:if|whether|when|whenever|in case|say|imagine|suppose)\b/;
const NUMBERS =
  "(?:\\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty(?:-\\w+)?|noon|midnight|midday)";
const IT_IS =
  "\\b(?:it(?:'s| is)|the (?:current )?time is)(?: (?:now|currently|about|around|just|almost|nearly|exactly|roughly|a|already))* ";
const CLOCK: readonly RegExp[] = [
  new RegExp(`${IT_IS}((?:half|quarter|${NUMBERS}(?: minutes)?) (?:past|to) ${NUMBERS}\\b)`),
  new RegExp(
    `${IT_IS}(${NUMBERS}(?::\\d\\d|(?::\\d\\d)? ?[ap]\\.?m\\b| o'clock| thirty| fifteen| forty-five| in the (?:morning|afternoon|evening)))`,
  ),
  new RegExp(`${IT_IS}(${NUMBERS}(?= now\\b|\\W*$))`),
  /\b(?:today is|today's|it(?:'s| is)(?: (?:now|currently|already))*|the date(?: today)? is|today's date is) ((?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|the \w+ of \w+|(?:january|february|march|april|may|june|july|august|september|october|november|december) \w+))/,
];
const TIME_ASKED =
  /\bwhat(?:'s| is) the time\b|\bwhat time is it\b|\bthe time\b.*\?|\b(?:what day|what date|which day|today's date)\b/i;
const WEATHER =
  /\b(?:it(?:'s| is)|the (?:weather|sky|temperature)(?: \w+){0,3} is|there(?:'s| is|'ll be| will be))(?: (?:currently|right now|now|outside|today|about|around|going to be|a|mostly|partly|quite|very|really|a bit))* (sunny|raining|rainy|snowing|snowy|cloudy|clear|windy|foggy|pouring|freezing|boiling|humid|icy|warm|hot|cold|chilly|mild|overcast|stormy|drizzling|-?\d{1,3} ?(?:°|degrees)|rain|snow|sunshine|\w+ degrees)\b/;
const FORECAST =
  /\b(?:it(?:'ll| will)|it(?:'s| is) going to) (rain|snow|be \w+)\b|\b(\w+)(?: percent|%) chance of/;
const WEATHER_ASKED =
  /\b(?:weather|(?:will|does|is) it (?:be )?(?:rain|snow)|going to (?:rain|snow)|forecast|raining|sunny|temperature|degrees|umbrella|snow(?:ing)?|is it (?:cold|hot|warm))\b/i;
/** Where or when that can be known. */
const ELSEWHERE =
  /\b(?:mars|venus|mercury|jupiter|saturn|the moon|the sun|space|antarctica|usually|normally|on average|typically|in general|(?:in|during) (?:winter|summer|spring|autumn|january|february|march|april|may|june|july|august|september|october|november|december))\b/i;
const YES_IT_IS = /^(?:yes|no|yep|yeah|nope),? it (?:is|isn't|will|won't|does|doesn't)\W*$/;
const LIVE_ASKED =
  /\b(?:who won|score|bitcoin|prices?|stocks?|market|result|the news|headlines?|latest|stock|share price|exchange rate|traffic|did .{1,40} win|on tv|in the news)\b(?=.*\b(?:now|today|tonight|yesterday|last night|this (?:morning|week|weekend|evening|afternoon)|current|latest|news|headlines?|price|rate|traffic)\b)|\b(?:today|tonight|yesterday|last night|this weekend)\b.*\b(?:win|won|score|result|news)\b|\bwhat(?:'s| is) (?:in |on )?the (?:latest )?news\b|\bwhat(?:'s| is) the score\b/i;
const LIVE =
  /\b((?:\w+ )?(?:won|beat|defeated|lost to|drew|scored|announced|reported|is trading|closed at|is (?:up|down)|stands? at|price (?:is|was)|headlines? (?:is|are)|latest (?:news|update) (?:is|are))\b[^.!?]{0,60})|\b(\d+ ?(?:-|–|to) ?\d+)\b/;

const OBJECTS =
  "(alarms?|timers?|reminders?|tables?|taxis?|cabs?|appointments?|reservations?|bookings?|rooms?|flights?|tickets?|e-?mails?|messages?|texts?|calendar|lights?|lamps?|heating|thermostat|music|songs?|playlists?|pizzas?|orders?|online|web|internet|forecast|weather|news|timetable|doctor|restaurant|ambulance|police)";
const DOING =
  "(setting|booking|reserving|scheduling|calling|ordering|sending|texting|emailing|(?:turning|switching) (?:on|off|up|down)|starting|playing|adding|checking|searching|cancelling)";
const VERBS =
  "(set|setting|book|booked|booking|reserved?|reserving|scheduled?|scheduling|call|called|calling|order|ordered|ordering|send|sent|sending|text|texted|texting|email|emailed|emailing|(?:turn|turned|turning|switch|switched|switching) (?:on|off|up|down)|dim|dimmed|(?:start|started|starting) (?:a|the|your|some)|play|playing|played|add|added|adding|check|checked|checking|look|looked|looking|search|searched|searching|find|cancel|cancell?ed|cancelling|pay|paid|buy)";
const DONE =
  "(set|booked|reserved|scheduled|called|ordered|sent|texted|emailed|(?:turned|switched) (?:on|off|up|down)|dimmed|started|played|added|checked|searched|cancell?ed|paid)";
const AIDS =
  "(?:(?:just|now|already|also|gladly|certainly|definitely|happily|happy to|be happy to|glad to|help you|go ahead and|going to|be able to|try to|to|gone ahead and) )*";
/** Things that only hands do, or a network; and whether somebody else may have done them. */
const DEEDS: readonly (readonly [form: RegExp, isTold: boolean])[] = [
  [
    new RegExp(
      `\\b(?:i(?:'ve| have|'ll| will| can|'m| am)|let me) ${AIDS}${VERBS}\\b[^.!?]{0,60}?\\b${OBJECTS}\\b`,
    ),
    false,
  ],
  // "I find music calming" is no deed.
  [new RegExp(`\\bi ${AIDS}${DONE}\\b[^.!?]{0,60}?\\b${OBJECTS}\\b`), false],
  [
    /\bi(?:'ll| will| can) (?:be sure to |also |gladly )?(remind|wake|notify|alert|text|email) (you)\b(?! (?:of|that)\b)/,
    false,
  ],
  [/\blet me (book|set|order|send|call|search|look) (that|it|this)(?: up)? for you\b/, false],
  [
    /\bi(?:'ve| have) (?:just |already )?(texted|emailed|messaged|called|notified|alerted|phoned) (\w+)/,
    false,
  ],
  [/\bnow (playing) (\w+)/, false],
  [/\bi(?:'ll| will| can) (record|save|store) (you|this|that|it)\b/, false],
  [/\bi(?:'m| am) (calling|ordering|booking|sending|texting|emailing) (one|them|it|that|her|him)\b/, false],
  [
    /^(?:(?:ok(?:ay)?|done|sure|great|all right)\W+)*i(?:'ve| have)?(?: just)? (set|booked|ordered|sent|scheduled|called) (it|them|one|that)\b/,
    false,
  ],
  [
    new RegExp(
      `\\b(?:your|the|an?) (?:\\w+ ){0,2}?${OBJECTS} (?:will|'ll) (arrive|be there|be with you|be delivered|come)\\b`,
    ),
    true,
  ],
  [/\bi(?:'ll| will| can) (call) you (back|later|tomorrow|at)\b/, false],
  [
    new RegExp(
      `\\b(?:your|the|an?) (?:\\w+ ){0,2}?${OBJECTS} (?:is|are|has been|have been|was|were)(?: now| all)* (set|booked|reserved|confirmed|scheduled|ordered|sent|placed|on its way|cancell?ed|paid)\\b`,
    ),
    true,
  ],
  [
    /^(?:(?:ok(?:ay)?|done|sure|great|all right|got it)\W+)*(?:your )?(alarm|timer|reminder|table|taxi|appointment)s? (set|booked|reserved|ordered)\b/,
    true,
  ],
  [
    new RegExp(
      `^(?:(?:ok(?:ay)?|sure|of course|certainly|all right)\\W+)*${DOING}\\b[^.!?]{0,60}?\\b${OBJECTS}\\b(?:[^.!?]{0,40}\\b(?:now|for you|right away))?\\W*$`,
    ),
    false,
  ],
];
const DEED_ASKED =
  /^(?:(?:please|hey|ok(?:ay)?|can you|could you|will you|would you)[, ]+)*(?:set|book|reserve|call|order|send|text|email|turn|switch|dim|play|remind|wake)\b/i;
/** Says no more than that it was done, or shows how it is now. */
const AGREES =
  /^(?:done|all set|you got it|consider it done|all done)\b.{0,20}$|^(?:the |your )?(?:lights?|lamps?|music|heating|tv) (?:is|are) (?:now )?(?:off|on|playing|dimmed)\b/;
const DONE_BY_OTHERS =
  /\b(?:i|we|he|she|they|you)(?:'ve| have|'s| has)? (?:\w+ ){0,2}?(?:set|booked|reserved|ordered|sent|scheduled|confirmed|paid|called)\b/i;
