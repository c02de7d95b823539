import { WINDOW_SAMPLES } from "../model/turn-detection.ts";

/** How turns are told from silence. Windows are of 32 ms. */
export interface EndpointingOptions {
  /** Probability from which a window is speech. */
  readonly threshold: number;
  /** Windows of speech on end that begin a turn. */
  readonly onsetWindows: number;
  /** Windows of silence that end a turn, unless a judge ends it before. */
  readonly maxSilenceWindows: number;
  /** Windows of silence after which a judge is asked, once a pause; `null`: there is none. */
  readonly judgeAfterWindows: number | null;
  /** What the judge has to be sure of at least. */
  readonly minFinished: number;
}

/** Speech may be fainter than its beginning by so much and goes on. Silero's own programs have the same. */
const HYSTERESIS = 0.15;

/** Windows of silence after which recognition may begin: 64 ms. */
const PAUSE_WINDOWS = 2;

/** What happened, at samples since the session's first, at 16 kHz. */
export type EndpointEvent =
  /** Somebody has begun to speak. */
  | { readonly type: "began"; readonly at: number }
  /** They pause since then: what they said until now may be recognised. */
  | { readonly type: "paused"; readonly revision: number; readonly at: number }
  /** The pause is long enough to be judged. */
  | { readonly type: "judge"; readonly revision: number; readonly at: number }
  /** They go on: whatever was found out about this pause is void. */
  | { readonly type: "resumed"; readonly revision: number }
  /** The turn is over; speech ended there. */
  | { readonly type: "ended"; readonly revision: number; readonly at: number };

/** Where a turn stands. A plain value: {@link hearWindow} and {@link hearVerdict} make the next. */
export interface EndpointingState {
  /** Windows heard. */
  readonly windows: number;
  /** Of speech on end, while nobody's turn has begun; 0 once it has. */
  readonly onset: number;
  /** The sample where the turn began; `null` while there is none. */
  readonly beganAt: number | null;
  /** Windows of silence since speech ended; 0 while somebody speaks. */
  readonly silence: number;
  /** Counts pauses: what is found out about one is void in the next. */
  readonly revision: number;
}

export const INITIAL_ENDPOINTING: EndpointingState = {
  windows: 0,
  onset: 0,
  beganAt: null,
  silence: 0,
  revision: 0,
};

interface Step {
  readonly state: EndpointingState;
  readonly events: readonly EndpointEvent[];
}

/** Goes on by a window in which speech is so probable. */
export function hearWindow(state: EndpointingState, probability: number, options: EndpointingOptions): Step {
  const windows = state.windows + 1;
  if (state.beganAt === null) {
    const onset = probability >= options.threshold ? state.onset + 1 : 0;
    if (onset < options.onsetWindows) return { state: { ...state, windows, onset }, events: [] };
    const at = (windows - onset) * WINDOW_SAMPLES;
    return {
      state: { ...state, windows, onset: 0, beganAt: at, silence: 0 },
      events: [{ type: "began", at }],
    };
  }
  const { revision } = state;
  if (probability >= options.threshold - HYSTERESIS) {
    const hasPaused = state.silence >= PAUSE_WINDOWS;
    const next = { ...state, windows, silence: 0, revision: revision + (hasPaused ? 1 : 0) };
    return { state: next, events: hasPaused ? [{ type: "resumed", revision: next.revision }] : [] };
  }
  const silence = state.silence + 1;
  const at = (windows - silence) * WINDOW_SAMPLES;
  if (silence >= options.maxSilenceWindows) return ended({ ...state, windows, silence }, at);
  const events: EndpointEvent[] = [];
  if (silence === PAUSE_WINDOWS) events.push({ type: "paused", revision, at });
  if (silence === options.judgeAfterWindows) events.push({ type: "judge", revision, at });
  return { state: { ...state, windows, silence }, events };
}

/** The judge's answer about that pause; one about an earlier pause changes nothing. */
export function hearVerdict(
  state: EndpointingState,
  revision: number,
  finished: number,
  options: EndpointingOptions,
): Step {
  const isStale = state.beganAt === null || state.silence === 0 || revision !== state.revision;
  if (isStale || finished < options.minFinished) return { state, events: [] };
  return ended(state, (state.windows - state.silence) * WINDOW_SAMPLES);
}

/** Drops the turn that has begun, if any: the client has thrown its sound away, or taken it as it is. */
export function dropTurn(state: EndpointingState): EndpointingState {
  return { ...state, onset: 0, beganAt: null, silence: 0, revision: state.revision + 1 };
}

function ended(state: EndpointingState, at: number): Step {
  const { revision } = state;
  return { state: dropTurn(state), events: [{ type: "ended", revision, at }] };
}
