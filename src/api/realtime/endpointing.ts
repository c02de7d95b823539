import type { TurnDetection } from "../../contract/realtime/session.ts";
import { DETECTION_RATE_HZ, WINDOW_SAMPLES } from "../../core/turn-detection.ts";

/** How turns are told from silence. Windows are of 32 ms. */
export interface EndpointingOptions {
  /** Probability from which a window is speech. */
  readonly threshold: number;
  /** Windows of speech on end that begin a turn. */
  readonly onsetWindows: number;
  /** Windows of silence that end a turn, unless a judge ends it before. */
  readonly maxSilenceWindows: number;
  /** The same of a turn with less than 0.6 s of speech, of which a judge hears too little. */
  readonly maxShortSilenceWindows: number;
  /** Windows of silence after which a judge is asked, once a pause, but of no short turn; `null`: there is none. */
  readonly judgeAfterWindows: number | null;
  /** What the judge has to be sure of at least. */
  readonly minFinished: number;
  /** Windows of a turn after which what was said so far may be recognised, again and again. */
  readonly transcribeEveryWindows: number;
}

/** No turn is longer, in samples: 120 s. */
export const MAX_TURN_SAMPLES = 120 * DETECTION_RATE_HZ;

/** Speech may be fainter than its beginning by so much and goes on. Silero's own programs have the same. */
const HYSTERESIS = 0.15;
/** No probability below is speech, or no turn would end. */
const MIN_THRESHOLD = 0.01;

/** Windows of silence after which recognition may begin: 64 ms. */
const PAUSE_WINDOWS = 2;

/** Windows of speech in a turn that is no short one: 0.6 s. */
const SHORT_WINDOWS = 19;

/** What happened, at samples since the session's first, at 16 kHz. */
export type EndpointingEvent =
  /** Somebody has begun to speak. */
  | { readonly type: "began"; readonly at: number }
  /** They have spoken for a while, and go on. */
  | { readonly type: "speaking"; readonly at: number }
  /** They pause since then: what they said until now may be recognised. */
  | { readonly type: "paused"; readonly revision: number; readonly at: number }
  /** The pause is long enough to be judged. */
  | { readonly type: "judge"; readonly revision: number; readonly at: number }
  /** The turn is over; speech ended there, so many windows ago. */
  | { readonly type: "ended"; readonly revision: number; readonly at: number; readonly silence: number };

/** Where a turn stands. A plain value: {@link advanceByWindow}, {@link advanceBySilence} and {@link applyVerdict} make the next. */
export interface EndpointingState {
  /** The sample behind the newest window. */
  readonly samples: number;
  /** Windows of speech on end, while nobody's turn has begun; 0 once it has. */
  readonly onset: number;
  /** The sample where the turn began; `null` while there is none. */
  readonly startSample: number | null;
  /** The sample behind the turn's newest window of speech. */
  readonly speechEnd: number;
  /** Windows of the turn, and those of them that are speech. */
  readonly windows: number;
  readonly speech: number;
  /** Windows of silence since speech ended; 0 while somebody speaks. */
  readonly silence: number;
  /** Counts pauses: what is found out about one is void in the next. */
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
  revision: 0,
};

interface Step {
  readonly state: EndpointingState;
  readonly events: readonly EndpointingEvent[];
}

/**
 * Goes on by a window in which speech is so probable.
 *
 * @param samples behind it
 */
export function advanceByWindow(
  state: EndpointingState,
  probability: number,
  options: EndpointingOptions,
  samples = state.samples + WINDOW_SAMPLES,
): Step {
  if (state.startSample === null) return beforeTurn({ ...state, samples }, probability, options);
  const isSpeech = probability >= Math.max(MIN_THRESHOLD, options.threshold - HYSTERESIS);
  const { state: next, events } = isSpeech
    ? spoken({ ...state, samples }, options)
    : advanceBySilence({ ...state, samples }, options);
  const { startSample } = next;
  if (startSample === null || samples - startSample < MAX_TURN_SAMPLES) return { state: next, events };
  const last = ended(next);
  return { state: last.state, events: [...events, ...last.events] };
}

/** The turn goes on by a window of silence, of which no sound has come. */
export function advanceBySilence(state: EndpointingState, options: EndpointingOptions): Step {
  const next = { ...state, windows: state.windows + 1, silence: state.silence + 1 };
  const { silence, revision, speechEnd: at } = next;
  const { end, judge } = silencesOf(state, options);
  if (silence >= end) return ended(next);
  const events: EndpointingEvent[] = [];
  if (silence === PAUSE_WINDOWS) events.push({ type: "paused", revision, at });
  if (silence === judge) events.push({ type: "judge", revision, at });
  return { state: next, events };
}

/** The judge's answer about that pause; one about an earlier pause, or a short turn, changes nothing. */
export function applyVerdict(
  state: EndpointingState,
  revision: number,
  finished: number,
  options: EndpointingOptions,
): Step {
  const isAbout = state.startSample !== null && state.silence > 0 && revision === state.revision;
  return isAbout && !isShort(state) && finished >= options.minFinished ? ended(state) : { state, events: [] };
}

/** Windows of silence until something may happen, where somebody pauses; what resumes meanwhile is known then, too. */
export function windowsToNextEvent(state: EndpointingState, options: EndpointingOptions): number {
  const { silence } = state;
  const { end, judge } = silencesOf(state, options);
  const next = [PAUSE_WINDOWS, judge ?? end, end].find((each) => each > silence);
  return (next ?? silence + 1) - silence;
}

/** Drops the turn that has begun, if any: the client has thrown its sound away, or taken it as it is. */
export function dropTurn(state: EndpointingState): EndpointingState {
  const { samples, revision } = state;
  return { ...INITIAL_ENDPOINTING, samples, revision: revision + 1 };
}

/** Whether a turn has so little speech that silence alone may end it. */
function isShort({ speech }: EndpointingState): boolean {
  return speech < SHORT_WINDOWS;
}

/** Windows of silence that end the turn, and after which the judge is asked; `null`: it is not. */
function silencesOf(state: EndpointingState, options: EndpointingOptions) {
  return isShort(state)
    ? { end: options.maxShortSilenceWindows, judge: null }
    : { end: options.maxSilenceWindows, judge: options.judgeAfterWindows };
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
    revision: state.revision + (hasPaused ? 1 : 0),
  };
  const events: EndpointingEvent[] = [];
  if (next.windows % transcribeEveryWindows === 0) events.push({ type: "speaking", at });
  return { state: next, events };
}

function ended(state: EndpointingState): Step {
  const { revision, speechEnd: at, silence } = state;
  return { state: dropTurn(state), events: [{ type: "ended", revision, at, silence }] };
}

/** Milliseconds before a turn's beginning that belong to it. */
export function prefixMs(detection: TurnDetection | null): number {
  return detection?.type === "server_vad" ? (detection.prefix_padding_ms ?? 300) : 300;
}

const WINDOW_MS = 32;
const MEDIUM = { maxSilenceMs: 4_000, maxSentenceSilenceMs: 1_500, minFinished: 0.5, minReplySilenceMs: 288 };
/** By eagerness: longest silence within a turn, and behind words that end a sentence, and what the judge has to be sure of. */
const EAGERNESS = {
  low: { maxSilenceMs: 8_000, maxSentenceSilenceMs: 3_000, minFinished: 0.7, minReplySilenceMs: 512 },
  medium: MEDIUM,
  auto: MEDIUM,
  high: { maxSilenceMs: 2_000, maxSentenceSilenceMs: 1_000, minFinished: 0.3, minReplySilenceMs: 0 },
} as const;
/** The judge is asked 192 ms into a pause: it errs more when it hears more of it. */
const JUDGE_AFTER_WINDOWS = 6;
/** A short turn ends with 608 ms of silence, whatever it sounds like: a judge errs on "Okay." and "Uh huh." */
const MAX_SHORT_SILENCE_WINDOWS = 19;
/** While a reply is heard, an interruption takes 160 ms of speech; else 96 ms begin a turn. */
const ONSET_WINDOWS = { listening: 3, speaking: 5 } as const;
/** What somebody says is recognised every 1.5 s; every 0.4 s while it has to be known whether it is an interruption. */
const TRANSCRIBE_EVERY_WINDOWS = { turn: 47, interruption: 12 } as const;

/** Words that an interruption has to have before it counts; 0: it counts as speech. */
export function minInterruptionWords(detection: TurnDetection | null): number {
  return detection?.antiphon_min_interruption_words ?? 0;
}

/** What endpointing depends on beside the settings; false unless given. */
export interface EndpointingContext {
  /** Whether a reply is heard just now. */
  readonly isReplyPlaying?: boolean;
  /** Whether speech is no interruption yet, for want of words. */
  readonly isUnconfirmed?: boolean;
  /** Whether the words before the pause end a sentence. */
  readonly isSentenceEnd?: boolean;
}

export function endpointingOptions(
  detection: TurnDetection,
  {
    isReplyPlaying: isSpeaking = false,
    isUnconfirmed = false,
    isSentenceEnd: isSentence = false,
  }: EndpointingContext = {},
): EndpointingOptions {
  const onsetWindows = isSpeaking ? ONSET_WINDOWS.speaking : ONSET_WINDOWS.listening;
  const transcribeEveryWindows = isUnconfirmed
    ? TRANSCRIBE_EVERY_WINDOWS.interruption
    : TRANSCRIBE_EVERY_WINDOWS.turn;
  if (detection.type === "server_vad") {
    const { threshold = 0.5, silence_duration_ms: silenceMs = 500 } = detection;
    const maxSilenceWindows = Math.max(1, Math.ceil(silenceMs / WINDOW_MS));
    return {
      threshold,
      onsetWindows,
      maxSilenceWindows,
      maxShortSilenceWindows: maxSilenceWindows,
      judgeAfterWindows: null,
      minFinished: 1,
      transcribeEveryWindows,
    };
  }
  const { maxSilenceMs, maxSentenceSilenceMs, minFinished } = EAGERNESS[detection.eagerness ?? "auto"];
  return {
    threshold: 0.5,
    onsetWindows,
    maxSilenceWindows: Math.ceil((isSentence ? maxSentenceSilenceMs : maxSilenceMs) / WINDOW_MS),
    maxShortSilenceWindows: MAX_SHORT_SILENCE_WINDOWS,
    transcribeEveryWindows,
    judgeAfterWindows: JUDGE_AFTER_WINDOWS,
    minFinished,
  };
}

/** A reply is not heard before so much silence after the speech that it answers: people pause as long between sentences. */
export function minReplySilenceMs(detection: TurnDetection | null): number {
  return detection?.type === "semantic_vad" ? EAGERNESS[detection.eagerness ?? "auto"].minReplySilenceMs : 0;
}
