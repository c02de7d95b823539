import type { TurnDetection } from "../../contract/realtime/session.ts";
import { DETECTION_RATE_HZ, WINDOW_SAMPLES } from "../../core/turn-detection.ts";

/** How turns are detected. A window is 32 ms. */
export interface EndpointingOptions {
  readonly threshold: number;
  readonly onsetWindows: number;
  /** Windows of silence that end a turn that the judge does not call finished. */
  readonly maxSilenceWindows: number;
  /** Windows of silence that end a turn that the judge calls finished. */
  readonly finishedWindows: number;
  /** The same for a turn with less than 0.6 s of speech, which is too short for the judge. */
  readonly maxShortSilenceWindows: number;
  /** Windows of silence before the judge is called, once per pause; `null`: never. */
  readonly judgeAfterWindows: number | null;
  readonly minFinished: number;
  /** Windows between two partial transcriptions of a turn. */
  readonly transcribeEveryWindows: number;
}

/** Maximum samples of a turn: 120 s. */
export const MAX_TURN_SAMPLES = 120 * DETECTION_RATE_HZ;

/** Speech continues down to this much below the threshold, as in Silero's own programs. */
const HYSTERESIS = 0.15;
/** Lower bound of the threshold, without which no turn would end. */
const MIN_THRESHOLD = 0.01;

/** Windows of silence before transcription starts: 64 ms. */
const PAUSE_WINDOWS = 2;

/** Windows of silence after which the words may be a whole sentence: 128 ms. */
const SENTENCE_PAUSE_WINDOWS = 4;

/** Windows of speech below which a turn is short: 0.6 s. */
const SHORT_WINDOWS = 19;

/** Events at samples counted from the session's first, at 16 kHz. */
export type EndpointingEvent =
  | { readonly type: "began"; readonly at: number }
  /** Speech continues; a partial transcript may be made. */
  | { readonly type: "speaking"; readonly at: number }
  /** Speech paused at `at`; the words up to it may be transcribed. */
  | { readonly type: "paused"; readonly revision: number; readonly at: number }
  /** The pause is long enough to end a sentence. */
  | { readonly type: "sentence_pause"; readonly revision: number }
  | { readonly type: "judge"; readonly revision: number; readonly at: number }
  /** The turn ended: speech stopped at `at`, `silence` windows ago. */
  | { readonly type: "ended"; readonly revision: number; readonly at: number; readonly silence: number };

/**
 * Immutable state: {@link advanceByWindow}, {@link advanceBySilence} and {@link applyVerdict} return the next one.
 */
export interface EndpointingState {
  readonly samples: number;
  /** Consecutive windows of speech before a turn; 0 within one. */
  readonly onset: number;
  readonly startSample: number | null;
  readonly speechEnd: number;
  /** Windows of the turn, and how many of them are speech. */
  readonly windows: number;
  readonly speech: number;
  readonly silence: number;
  /** The judge's verdict on the current pause; 0 before it. */
  readonly finished: number;
  /** Counts pauses: a result about an earlier pause is void. */
  readonly revision: number;
}

export const INITIAL_ENDPOINTING: EndpointingState = {
  samples: 0,
  onset: 0,
  startSample: null,
  speechEnd: 0,
  windows: 0,
  speech: 0,
  silence: 0,
  finished: 0,
  revision: 0,
};

interface Step {
  readonly state: EndpointingState;
  readonly events: readonly EndpointingEvent[];
}

/**
 * Advances by one window.
 *
 * @param samples end of the window
 */
export function advanceByWindow(
  state: EndpointingState,
  probability: number,
  options: EndpointingOptions,
  samples = state.samples + WINDOW_SAMPLES,
): Step {
  if (state.startSample === null) return beforeTurn({ ...state, samples }, probability, options);
  const isSpeech = probability >= Math.max(MIN_THRESHOLD, options.threshold - HYSTERESIS);
  const step = (isSpeech ? spoken : advanceBySilence)({ ...state, samples }, options);
  const { startSample } = step.state;
  if (startSample === null || samples - startSample < MAX_TURN_SAMPLES) return step;
  const last = ended(step.state);
  return { state: last.state, events: [...step.events, ...last.events] };
}

export function advanceBySilence(state: EndpointingState, options: EndpointingOptions): Step {
  const next = { ...state, windows: state.windows + 1, silence: state.silence + 1 };
  const { silence, revision, speechEnd: at } = next;
  const { end, judge } = silencesOf(state, options);
  if (silence >= end) return ended(next);
  const events: EndpointingEvent[] = [];
  if (silence === PAUSE_WINDOWS) events.push({ type: "paused", revision, at });
  if (silence === SENTENCE_PAUSE_WINDOWS) events.push({ type: "sentence_pause", revision });
  if (silence === judge) events.push({ type: "judge", revision, at });
  return { state: next, events };
}

/** Applies the judge's verdict on a pause. Verdicts on an earlier pause or a short turn are ignored. */
export function applyVerdict(
  state: EndpointingState,
  revision: number,
  finished: number,
  options: EndpointingOptions,
): Step {
  const isAbout = state.startSample !== null && state.silence > 0 && revision === state.revision;
  return isAbout && !isShort(state) ? reconsider({ ...state, finished }, options) : { state, events: [] };
}

/** Ends a turn whose pause is long enough for what is now known of it. */
export function reconsider(state: EndpointingState, options: EndpointingOptions): Step {
  const isOver =
    state.startSample !== null && state.silence > 0 && state.silence >= silencesOf(state, options).end;
  return isOver ? ended(state) : { state, events: [] };
}

/** Returns the windows of silence until the next event. Speech may resume without being noticed until then. */
export function windowsToNextEvent(state: EndpointingState, options: EndpointingOptions): number {
  const { silence } = state;
  const { end, judge } = silencesOf(state, options);
  const next = [PAUSE_WINDOWS, judge ?? end, end].find((each) => each > silence);
  return (next ?? silence + 1) - silence;
}

/** Drops the current turn, if any, and voids results about it. */
export function dropTurn(state: EndpointingState): EndpointingState {
  const { samples, revision } = state;
  return { ...INITIAL_ENDPOINTING, samples, revision: revision + 1 };
}

/** Whether silence alone ends the turn, since the judge needs more speech. */
function isShort({ speech }: EndpointingState): boolean {
  return speech < SHORT_WINDOWS;
}

function silencesOf(state: EndpointingState, options: EndpointingOptions) {
  if (isShort(state)) return { end: options.maxShortSilenceWindows, judge: null };
  const { judgeAfterWindows: judge, minFinished, finishedWindows, maxSilenceWindows } = options;
  return { end: state.finished >= minFinished ? finishedWindows : maxSilenceWindows, judge };
}

function beforeTurn(state: EndpointingState, probability: number, options: EndpointingOptions): Step {
  const onset = probability >= options.threshold ? state.onset + 1 : 0;
  if (onset < options.onsetWindows) return { state: { ...state, onset }, events: [] };
  const { samples } = state;
  const at = Math.max(0, samples - onset * WINDOW_SAMPLES);
  const began = { ...state, onset: 0, startSample: at, speechEnd: samples, windows: onset, speech: onset };
  return { state: { ...began, silence: 0 }, events: [{ type: "began", at }] };
}

function spoken(state: EndpointingState, { transcribeEveryWindows }: EndpointingOptions): Step {
  const hasPaused = state.silence >= PAUSE_WINDOWS;
  const { samples: at } = state;
  const next = {
    ...state,
    speechEnd: at,
    windows: state.windows + 1,
    speech: state.speech + 1,
    silence: 0,
    finished: 0,
    revision: state.revision + (hasPaused ? 1 : 0),
  };
  const isPartialDue = next.windows % transcribeEveryWindows === 0;
  return { state: next, events: isPartialDue ? [{ type: "speaking", at }] : [] };
}

function ended(state: EndpointingState): Step {
  const { revision, speechEnd: at, silence } = state;
  return { state: dropTurn(state), events: [{ type: "ended", revision, at, silence }] };
}

/** Returns the milliseconds before its onset that belong to a turn. */
export function prefixMs(detection: TurnDetection | null): number {
  return detection?.type === "server_vad" ? (detection.prefix_padding_ms ?? 300) : 300;
}

const WINDOW_MS = 32;
/** How complete the words of a turn are. Words that are not yet transcribed count as unfinished. */
export type TurnEnding = "question" | "sentence" | "phrase" | "unfinished";

interface SilenceLimits {
  readonly minFinished: number;
  /** Milliseconds of silence that end a turn that the judge calls finished. */
  readonly finishedMs: Readonly<Record<TurnEnding, number>>;
  /** The same for any other turn, after a complete sentence and at most. */
  readonly sentenceMs: number;
  readonly maxMs: number;
}

/**
 * Silences that end a turn. On the recorded turns of bench/realtime, those of `medium` cut one in thirty short: people
 * pause for 0.2 to 0.6 s between sentences, and for longer to search for a word.
 */
const SILENCE_LIMITS: Readonly<Record<"low" | "medium" | "high", SilenceLimits>> = {
  low: {
    minFinished: 0.7,
    finishedMs: { question: 800, sentence: 1_000, phrase: 1_500, unfinished: 3_000 },
    sentenceMs: 3_000,
    maxMs: 8_000,
  },
  medium: {
    minFinished: 0.5,
    finishedMs: { question: 224, sentence: 288, phrase: 608, unfinished: 1_500 },
    sentenceMs: 1_500,
    maxMs: 4_000,
  },
  high: {
    minFinished: 0.3,
    finishedMs: { question: 192, sentence: 0, phrase: 0, unfinished: 800 },
    sentenceMs: 1_000,
    maxMs: 2_000,
  },
};
/** 192 ms: the judge errs more with longer silence. */
const JUDGE_AFTER_WINDOWS = 6;
/** 608 ms: the judge errs on "Okay." and "Uh huh.", so silence ends a short turn. */
const MAX_SHORT_SILENCE_WINDOWS = 19;
/** 96 ms start a turn; 160 ms while a reply is playing. */
const ONSET_WINDOWS = { listening: 3, speaking: 5 } as const;
/** 1.5 s, or 0.4 s while the words decide about an interruption. */
const TRANSCRIBE_EVERY_WINDOWS = { turn: 47, interruption: 12 } as const;

export interface EndpointingContext {
  readonly isReplyPlaying: boolean;
  /** Whether the turn still lacks words to count as an interruption. */
  readonly isUnconfirmed: boolean;
  readonly ending: TurnEnding;
}

const LISTENING: EndpointingContext = { isReplyPlaying: false, isUnconfirmed: false, ending: "unfinished" };

/** @param context default: a turn without words while no reply is playing */
export function endpointingOptions(
  detection: TurnDetection,
  context: Partial<EndpointingContext> = {},
): EndpointingOptions {
  const { isReplyPlaying, isUnconfirmed, ending } = { ...LISTENING, ...context };
  const common = {
    onsetWindows: isReplyPlaying ? ONSET_WINDOWS.speaking : ONSET_WINDOWS.listening,
    transcribeEveryWindows: TRANSCRIBE_EVERY_WINDOWS[isUnconfirmed ? "interruption" : "turn"],
  };
  if (detection.type === "server_vad") {
    const { threshold = 0.5, silence_duration_ms: silenceMs = 500 } = detection;
    const windows = Math.max(1, windowsIn(silenceMs));
    const silences = {
      maxSilenceWindows: windows,
      finishedWindows: windows,
      maxShortSilenceWindows: windows,
    };
    return { ...common, ...silences, threshold, judgeAfterWindows: null, minFinished: 1 };
  }
  const { eagerness = "auto" } = detection;
  const { minFinished, finishedMs, sentenceMs, maxMs } =
    SILENCE_LIMITS[eagerness === "auto" ? "medium" : eagerness];
  return {
    ...common,
    threshold: 0.5,
    maxSilenceWindows: windowsIn(ending === "unfinished" ? maxMs : sentenceMs),
    finishedWindows: windowsIn(finishedMs[ending]),
    maxShortSilenceWindows: Math.max(MAX_SHORT_SILENCE_WINDOWS, windowsIn(finishedMs.phrase)),
    judgeAfterWindows: JUDGE_AFTER_WINDOWS,
    // A question is finished by its words.
    minFinished: ending === "question" ? 0 : minFinished,
  };
}

function windowsIn(ms: number): number {
  return Math.ceil(ms / WINDOW_MS);
}

/** English words that no sentence ends with. In other languages punctuation alone decides. */
const OPEN_WORDS = new Set("a an and because but if of or so the to uh um".split(" "));
export const SENTENCE_END = /(?<![.…])[.!?。！？]["”’')»]*$/;
const MAX_PHRASE_WORDS = 3;
const MAX_PHRASE_CHARS = 24;

/**
 * Classifies the words of a turn so far.
 *
 * @param answersQuestion whether they follow a question, which a few words may answer
 */
export function turnEnding(text: string, answersQuestion: boolean): TurnEnding {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’]\p{L}+)*/gu) ?? [];
  if (!SENTENCE_END.test(text) || OPEN_WORDS.has(words.at(-1) ?? "")) return "unfinished";
  if (/[?？]["”’')»]*$/.test(text)) return "question";
  const isPhrase = words.length <= MAX_PHRASE_WORDS && text.length <= MAX_PHRASE_CHARS;
  return isPhrase && !answersQuestion ? "phrase" : "sentence";
}
