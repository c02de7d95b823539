import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Semaphores } from "../limits/server-limits.ts";
import { SPEAKING } from "../limits/utterance-slots.ts";
import type { SpeechService } from "../serving/reply/speech-service.ts";
import type { Telemetry } from "../serving/telemetry.ts";

/** What is read at the moment of a scrape. */
export interface GaugeReadings {
  readonly service: Pick<SpeechService, "queued" | "active" | "paused">;
  readonly semaphores: Semaphores;
  speechThreads(): number;
  residentModels(): number;
  /** Takes of tokens that shared buckets did not answer, since the start. */
  takesAlone(): number;
}

/** What a request of HTTP has; `status` is `null` where its client left before any was sent. */
export interface HttpEnd {
  readonly method: string;
  readonly status: number | null;
}

/**
 * How a request ended: `finished` its whole answer was taken, `failed` that answer was, or ended in, an error, `left` its
 * client went before.
 */
export type Ending = "finished" | "failed" | "left";

/** How a request ended, for the count of it. */
export interface RequestEnd {
  /** The pattern that matched, never what a client typed. */
  readonly route: string;
  /** `null` where it came by another protocol. */
  readonly http: HttpEnd | null;
  readonly ending: Ending;
  /** From its headers, or its first event, to its end; `null` where it had no beginning. */
  readonly seconds: number | null;
  /** The type of the error that it was answered with, or that ended its stream. */
  readonly type: string | null;
}

/** Everything `GET /metrics` tells. */
export interface Metrics {
  readonly telemetry: Telemetry;
  /** Counts a request, once, when it is over. */
  ended(end: RequestEnd): void;
  /** Counts an event of the Wyoming protocol. */
  wyomingEvent(outcome: "taken" | "slowed" | "refused"): void;
  /** Realtime sessions that are open, and seconds from the end of speech to the first sound of its answer. */
  readonly realtime: { opened(): void; closed(): void; answered(seconds: number): void };
  /** Connects the gauges, once what they read exists. */
  watch(watched: GaugeReadings): void;
  /** Prometheus' text format and its content type. */
  render(): Promise<{ readonly text: string; readonly contentType: string }>;
}

/**
 * A registry of its own, so that two servers in one process count apart.
 *
 * @param version the program's
 */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "antiphon_" });
  // `antiphon_build_info` says it.
  registry.removeSingleMetric("antiphon_nodejs_version_info");
  new Gauge({
    name: "antiphon_build_info",
    help: "1, for what runs here.",
    labelNames: ["version", "node"] as const,
    registers,
  }).set({ version, node: process.version }, 1);

  const requests = new Counter({
    name: "antiphon_http_requests_total",
    help: "Responses by route, method and status.",
    labelNames: ["route", "method", "status"] as const,
    registers,
  });
  const ends = new Counter({
    name: "antiphon_requests_ended_total",
    help: "Requests by how they ended: finished, failed (with the type of the error) or left by their client.",
    labelNames: ["route", "end", "type"] as const,
    registers,
  });
  const wyomingEvents = new Counter({
    name: "antiphon_wyoming_events_total",
    help: "Events of the Wyoming protocol: taken, taken late since their connection was over its budget (slowed), or refused.",
    labelNames: ["outcome"] as const,
    registers,
  });
  const requestDuration = new Histogram({
    name: "antiphon_request_duration_seconds",
    help: "From a request's headers to its end.",
    labelNames: ["route"] as const,
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300],
    registers,
  });
  const queued = new Histogram({
    name: "antiphon_queue_seconds",
    help: "Time that requests waited for their first place, of those that got one.",
    buckets: [0.001, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers,
  });
  const firstToken = new Histogram({
    name: "antiphon_writer_first_token_seconds",
    help: "From when a language model was asked to write to its first token.",
    buckets: [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2, 3, 5, 10],
    registers,
  });
  const utterances = new Counter({
    name: "antiphon_utterances_ended_total",
    help: "Utterances by how they ended: finished, length (cut where none may be longer), gone (their client) or failed.",
    labelNames: ["model", "format", "reason"] as const,
    registers,
  });
  const audioDuration = new Histogram({
    name: "antiphon_audio_duration_seconds",
    help: "Audio handed over, by utterance, of those that had any.",
    labelNames: ["model"] as const,
    buckets: [0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320],
    registers,
  });
  const firstAudio = new Histogram({
    name: "antiphon_first_audio_seconds",
    help: "From a request's arrival to its first frame of audio.",
    labelNames: ["model"] as const,
    buckets: [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, 1, 2, 5, 15],
    registers,
  });
  const realTimeFactor = new Histogram({
    name: "antiphon_real_time_factor",
    help: "Seconds the engine was waited for, per second of audio, by utterance that was spoken to its end.",
    labelNames: ["model"] as const,
    buckets: [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 2],
    registers,
  });
  const hearingFactor = new Histogram({
    name: "antiphon_hearing_real_time_factor",
    help: "Seconds the recogniser was waited for, per second of audio, by recording.",
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    registers,
  });
  const sessions = new Gauge({
    name: "antiphon_realtime_sessions",
    help: "Realtime sessions that are open.",
    registers,
  });
  const answers = new Histogram({
    name: "antiphon_realtime_answer_seconds",
    help: "From the end of somebody's speech in a realtime session to the first sound of the answer.",
    buckets: [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10],
    registers,
  });
  const underruns = new Counter({
    name: "antiphon_underruns_total",
    help: "Frames that came later than a listener in real time needed them.",
    registers,
  });
  const turnsHeard = new Counter({
    name: "antiphon_turns_heard_total",
    help: "Turns of sound alone that were to be heard, by how much of them was.",
    labelNames: ["outcome"] as const,
    registers,
  });
  const inputChars = new Counter({
    name: "antiphon_input_characters_total",
    help: "Characters metered.",
    registers,
  });
  const audioSeconds = new Counter({
    name: "antiphon_audio_seconds_total",
    help: "Seconds of audio metered, in and out.",
    labelNames: ["direction"] as const,
    registers,
  });

  return {
    telemetry: {
      queued: (seconds) => queued.observe(seconds),
      firstToken: (seconds) => firstToken.observe(seconds),
      firstAudio: (model, seconds) => firstAudio.observe({ model }, seconds),
      underrun: () => underruns.inc(),
      ended: ({ model, format, reason, audioS, engineS }) => {
        utterances.inc({ model, format, reason });
        if (audioS === 0) return;
        audioDuration.observe({ model }, audioS);
        const isWhole = reason === "finished" || reason === "length";
        if (isWhole) realTimeFactor.observe({ model }, engineS / audioS);
      },
      transcribed: (audioS, recogniserS) => {
        if (audioS > 0) hearingFactor.observe(recogniserS / audioS);
      },
      turnTranscribed: (outcome) => turnsHeard.inc({ outcome }),
      metered: (usage) => {
        inputChars.inc(usage.input_chars);
        audioSeconds.inc({ direction: "in" }, usage.input_audio_seconds);
        audioSeconds.inc({ direction: "out" }, usage.output_audio_seconds);
      },
    },
    ended({ route, http, ending, seconds, type }) {
      if (seconds !== null) requestDuration.observe({ route }, seconds);
      if (http !== null && http.status !== null)
        requests.inc({ route, method: http.method, status: `${http.status}` });
      ends.inc({ route, end: ending, type: type ?? "none" });
    },
    wyomingEvent: (outcome) => wyomingEvents.inc({ outcome }),
    realtime: {
      opened: () => sessions.inc(),
      closed: () => sessions.dec(),
      answered: (seconds) => answers.observe(seconds),
    },
    watch: (watched) => watchGauges(watched, registers),
    render: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  };
}

function watchGauges(
  { service, semaphores, speechThreads, residentModels, takesAlone }: GaugeReadings,
  registers: Registry[],
): void {
  const { writing, hearingTurns, hearingRecordings, receiving, recorded, audio, replies } = semaphores;
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge("antiphon_queue_depth", "Requests waiting for their first place.", () => service.queued);
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
  gauge("antiphon_active_streams", "Utterances being computed just now.", () => service.active);
  gauge(
    "antiphon_paused_streams",
    "Utterances that have begun and wait: for their client, a place, words, or to be less far ahead.",
    () => service.paused,
  );
  gauge("antiphon_speech_threads", "Threads that can speak.", speechThreads);
  gauge("antiphon_turns_writing", "Turns being written.", () => writing.used);
  gauge("antiphon_turns_hearing", "Turns of sound alone being heard.", () => hearingTurns.used);
  gauge("antiphon_recordings_hearing", "Recordings being heard.", () => hearingRecordings.used);
  gauge(
    "antiphon_receiving_bytes",
    "Memory held for bodies being received, and for recordings until they were heard.",
    () => receiving.used + recorded.used,
  );
  gauge(
    "antiphon_audio_bytes",
    "Memory held for the decoded audio of requests, and for recordings that an endpoint hears.",
    () => audio.used,
  );
  gauge("antiphon_reply_bytes", "Memory held for whole replies until they are read.", () => replies.used);
  gauge("antiphon_resident_models", "Models loaded in memory.", residentModels);
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
