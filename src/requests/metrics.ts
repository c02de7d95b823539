import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Semaphores } from "../limits/server-limits.ts";
import { SPEAKING } from "../limits/utterance-slots.ts";
import type { SpeechService } from "../serving/reply/speech-service.ts";
import type { Telemetry } from "../serving/telemetry.ts";

/** Values read at each scrape. */
export interface GaugeReadings {
  readonly service: Pick<SpeechService, "queued" | "active" | "paused">;
  readonly semaphores: Semaphores;
  speechThreads(): number;
  residentModels(): number;
  /** Tokens taken while the shared buckets did not answer, since the start. */
  takesAlone(): number;
}

/** The HTTP side of a request; `status` is `null` if its client left before one was sent. */
export interface HttpEnd {
  readonly method: string;
  readonly status: number | null;
}

/** How a request ended: `finished` with its whole response read, `failed` with an error, `left` by its client. */
export type Ending = "finished" | "failed" | "left";

export interface RequestEnd {
  /** The matched route pattern, never the client's path. */
  readonly route: string;
  /** `null` for other protocols. */
  readonly http: HttpEnd | null;
  readonly ending: Ending;
  /** From its headers or first event to its end; `null` if it never began. */
  readonly seconds: number | null;
  /** The type of the error that ended it. */
  readonly type: string | null;
}

export interface Metrics {
  readonly telemetry: Telemetry;
  ended(end: RequestEnd): void;
  wyomingEvent(outcome: "taken" | "slowed" | "refused"): void;
  /** Counts open sessions, and observes seconds from the end of speech to the first sound of the answer. */
  readonly realtime: { opened(): void; closed(): void; answered(seconds: number): void };
  /** Connects the gauges, once their sources exist. */
  watch(watched: GaugeReadings): void;
  /** Returns Prometheus' text format and its content type. */
  render(): Promise<{ readonly text: string; readonly contentType: string }>;
}

/** Name, help and labels of each counter. */
const COUNTERS = {
  requests: [
    "antiphon_http_requests_total",
    "Responses by route, method and status.",
    ["route", "method", "status"],
  ],
  ends: [
    "antiphon_requests_ended_total",
    "Requests by how they ended: finished, failed (with the type of the error) or left by their client.",
    ["route", "end", "type"],
  ],
  wyomingEvents: [
    "antiphon_wyoming_events_total",
    "Events of the Wyoming protocol: taken, taken late since their connection was over its budget (slowed), or refused.",
    ["outcome"],
  ],
  utterances: [
    "antiphon_utterances_ended_total",
    "Utterances by how they ended: finished, length (cut where none may be longer), gone (their client) or failed.",
    ["model", "format", "reason"],
  ],
  underruns: [
    "antiphon_underruns_total",
    "Frames that came later than a listener in real time needed them.",
    [],
  ],
  turnsHeard: [
    "antiphon_turns_heard_total",
    "Turns with audio only, by how much of them was transcribed.",
    ["outcome"],
  ],
  inputChars: ["antiphon_input_characters_total", "Characters metered.", []],
  audioSeconds: ["antiphon_audio_seconds_total", "Seconds of audio metered, in and out.", ["direction"]],
} as const;

/** Name, help and labels of each histogram, and the limits of its buckets. */
const HISTOGRAMS = {
  requestDuration: [
    "antiphon_request_duration_seconds",
    "From a request's headers to its end.",
    ["route"],
    [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300],
  ],
  queued: [
    "antiphon_queue_seconds",
    "Time that requests waited for their first slot, of those that got one.",
    [],
    [0.001, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  ],
  firstToken: [
    "antiphon_writer_first_token_seconds",
    "From when a language model was asked to write to its first token.",
    [],
    [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2, 3, 5, 10],
  ],
  audioDuration: [
    "antiphon_audio_duration_seconds",
    "Audio handed over, by utterance, of those that had any.",
    ["model"],
    [0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320],
  ],
  firstAudio: [
    "antiphon_first_audio_seconds",
    "From a request's arrival to its first frame of audio.",
    ["model"],
    [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, 1, 2, 5, 15],
  ],
  realTimeFactor: [
    "antiphon_real_time_factor",
    "Seconds the engine was waited for, per second of audio, by utterance that was spoken to its end.",
    ["model"],
    [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 2],
  ],
  hearingFactor: [
    "antiphon_hearing_real_time_factor",
    "Seconds the recogniser was waited for, per second of audio, by recording.",
    [],
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
  ],
  answers: [
    "antiphon_realtime_answer_seconds",
    "From the end of speech in a realtime session to the first audio of the reply.",
    [],
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10],
  ],
} as const;

/** Name and help of each gauge, and how to read it at a scrape. */
const GAUGES: readonly (readonly [name: string, help: string, read: (readings: GaugeReadings) => number])[] =
  [
    ["antiphon_queue_depth", "Requests waiting for their first slot.", ({ service }) => service.queued],
    ["antiphon_active_streams", "Utterances being computed.", ({ service }) => service.active],
    [
      "antiphon_paused_streams",
      "Utterances that have begun and wait: for their client, a slot, words, or to be less far ahead.",
      ({ service }) => service.paused,
    ],
    ["antiphon_speech_threads", "Threads that can speak.", ({ speechThreads }) => speechThreads()],
    ["antiphon_turns_writing", "Turns being written.", ({ semaphores }) => semaphores.writing.used],
    [
      "antiphon_turns_hearing",
      "Turns with audio only that are being transcribed.",
      ({ semaphores }) => semaphores.hearingTurns.used + semaphores.hearingSessions.used,
    ],
    [
      "antiphon_recordings_hearing",
      "Recordings being heard.",
      ({ semaphores }) => semaphores.hearingRecordings.used,
    ],
    [
      "antiphon_receiving_bytes",
      "Memory held for bodies being received, and for recordings until they are transcribed.",
      ({ semaphores }) => semaphores.receiving.used + semaphores.recorded.used,
    ],
    [
      "antiphon_audio_bytes",
      "Memory held for the decoded audio of requests, and for recordings sent to an endpoint.",
      ({ semaphores }) => semaphores.audio.used,
    ],
    [
      "antiphon_reply_bytes",
      "Memory held for whole replies until they are read.",
      ({ semaphores }) => semaphores.replies.used,
    ],
    ["antiphon_resident_models", "Models loaded in memory.", ({ residentModels }) => residentModels()],
  ];

/**
 * Creates metrics in a registry of their own, so that two servers in one process count separately.
 *
 * @param version the program's
 */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "antiphon_" });
  // `antiphon_build_info` has the version.
  registry.removeSingleMetric("antiphon_nodejs_version_info");
  const labelNames = ["version", "node"] as const;
  new Gauge({ name: "antiphon_build_info", help: "1, for what runs here.", labelNames, registers }).set(
    { version, node: process.version },
    1,
  );
  const sessions = new Gauge({
    name: "antiphon_realtime_sessions",
    help: "Realtime sessions that are open.",
    registers,
  });
  const counters = mapValues(
    COUNTERS,
    ([name, help, labelNames]) => new Counter<string>({ name, help, labelNames, registers }),
  );
  const histograms = mapValues(
    HISTOGRAMS,
    ([name, help, labelNames, buckets]) =>
      new Histogram<string>({ name, help, labelNames, buckets: [...buckets], registers }),
  );

  return {
    telemetry: {
      queued: (seconds) => histograms.queued.observe(seconds),
      firstToken: (seconds) => histograms.firstToken.observe(seconds),
      firstAudio: (model, seconds) => histograms.firstAudio.observe({ model }, seconds),
      underrun: () => counters.underruns.inc(),
      ended: ({ model, format, reason, audioS, engineS }) => {
        counters.utterances.inc({ model, format, reason });
        if (audioS === 0) return;
        histograms.audioDuration.observe({ model }, audioS);
        const isWhole = reason === "finished" || reason === "length";
        if (isWhole) histograms.realTimeFactor.observe({ model }, engineS / audioS);
      },
      transcribed: (audioS, recogniserS) => {
        if (audioS > 0) histograms.hearingFactor.observe(recogniserS / audioS);
      },
      turnTranscribed: (outcome) => counters.turnsHeard.inc({ outcome }),
      metered: (usage) => {
        counters.inputChars.inc(usage.input_chars);
        counters.audioSeconds.inc({ direction: "in" }, usage.input_audio_seconds);
        counters.audioSeconds.inc({ direction: "out" }, usage.output_audio_seconds);
      },
    },
    ended({ route, http, ending, seconds, type }) {
      if (seconds !== null) histograms.requestDuration.observe({ route }, seconds);
      if (http !== null && http.status !== null)
        counters.requests.inc({ route, method: http.method, status: `${http.status}` });
      counters.ends.inc({ route, end: ending, type: type ?? "none" });
    },
    wyomingEvent: (outcome) => counters.wyomingEvents.inc({ outcome }),
    realtime: {
      opened: () => sessions.inc(),
      closed: () => sessions.dec(),
      answered: (seconds) => histograms.answers.observe(seconds),
    },
    watch: (watched) => watchGauges(watched, registers),
    render: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  };
}

function mapValues<K extends string, V, R>(
  values: Readonly<Record<K, V>>,
  map: (value: V) => R,
): Readonly<Record<K, R>> {
  const entries = Object.entries<V>(values).map(([key, value]) => [key, map(value)]);
  return Object.fromEntries(entries) as Record<K, R>;
}

function watchGauges(readings: GaugeReadings, registers: Registry[]): void {
  for (const [name, help, read] of GAUGES) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(readings));
      },
    });
  }
  const { service, semaphores, takesAlone } = readings;
  new Gauge({
    name: "antiphon_waiting",
    help: "Requests that wait, by what for.",
    labelNames: ["for"] as const,
    registers,
    collect() {
      this.set({ for: SPEAKING }, service.queued);
      for (const { what, queued } of Object.values(semaphores)) this.set({ for: what }, queued);
    },
  });
  new Counter({
    name: "antiphon_takes_alone_total",
    help: "Requests that a bucket of this server alone decided over, because the shared ones did not answer.",
    registers,
    collect() {
      this.reset();
      this.inc(takesAlone());
    },
  });
}
