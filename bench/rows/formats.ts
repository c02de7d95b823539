import { ENCODINGS, type Encoding } from "../../src/audio/encode/encoder.ts";
import { openEncoder } from "../../src/audio/encode/open-encoder.ts";
import { FRAME_S } from "../../src/audio/format.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { findModel, PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { buildScript } from "../../src/serving/prepare/build-script.ts";
import { resolveTts } from "../../src/serving/prepare/resolve-request.ts";
import { firstAudioMs } from "../first-audio-ms.ts";
import { type LoadJob, runLoad } from "../load/load-job.ts";
import { median } from "../load/percentile.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { TEN_WORDS, TURNS, tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/** Differences of medians to the body's first byte, with the ten words of `first-audio`. */
export const formatsFirstByte: Row = {
  id: "formats-first-byte",
  what: "first byte of `/v1/audio/speech` beyond the first audio of `/v1/converse/stream`, one client, p50: pcm; mp3; opus",
  goal: "pcm ≤ 5 ms, mp3 ≤ 60 ms",
  async measure({ isQuick }) {
    const server = await startServerProcess();
    try {
      const ways = { stream: tenWords(server, 1), ...speechJobs(server, 1, ["pcm", "mp3", "opus"]) };
      const heard = await inTurns(ways, isQuick ? 3 : 10, isQuick ? 10 : 30);
      const beyondMs = (way: string) => firstAudioMs(heard[way]!).p50 - firstAudioMs(heard.stream!).p50;
      const shown = (way: string) => `${way} ${beyondMs(way).toFixed(1)} ms`;
      const [stream] = [firstAudioMs(heard.stream!).p50.toFixed(1)];
      return {
        measured: `${["pcm", "mp3", "opus"].map(shown).join(", ")} (the stream's own: ${stream} ms)`,
        isMet: beyondMs("pcm") <= 5 && beyondMs("mp3") <= 60,
      };
    } finally {
      await server.stop();
    }
  },
};

/** Eight clients that read as fast as they can, with MP3 and with PCM. */
export const formatsEightClients: Row = {
  id: "formats-eight-clients",
  what: "first byte of `/v1/audio/speech` with 8 clients that read as fast as they can: mp3 ÷ pcm, p95",
  goal: "≤ 1.2",
  async measure({ isQuick }) {
    const server = await startServerProcess();
    try {
      const heard = await inTurns(speechJobs(server, 8, ["pcm", "mp3"]), isQuick ? 2 : 6, isQuick ? 40 : 80);
      const [pcm, mp3] = [firstAudioMs(heard.pcm!).p95, firstAudioMs(heard.mp3!).p95];
      return {
        measured: `${(mp3 / pcm).toFixed(2)} (mp3 ${mp3.toFixed(1)} ms, pcm ${pcm.toFixed(1)} ms)`,
        isMet: mp3 <= 1.2 * pcm,
      };
    } finally {
      await server.stop();
    }
  },
};

/** User and system time to encode 41 s of speaker `0`, the median of nine passes, and the file's size. */
export const encoderCpu: Row = {
  id: "encoder-cpu",
  what: "CPU time of the encoders a second of speech, in pieces of 80 ms, and the bytes it takes",
  goal: "mp3 and opus ≤ 6 ms",
  async measure({ isQuick }) {
    const frames = await speech();
    const audioS = frames.length * FRAME_S;
    const found: string[] = [];
    let worstMs = 0;
    for (const encoding of ENCODINGS) {
      await costOf(encoding, frames);
      const passes: { cpuMs: number; bytes: number }[] = [];
      for (let pass = 0; pass < (isQuick ? 3 : 9); pass++) passes.push(await costOf(encoding, frames));
      const ms = median(passes.map(({ cpuMs }) => cpuMs)) / audioS;
      if (encoding === "mp3" || encoding === "opus") worstMs = Math.max(worstMs, ms);
      found.push(`${encoding} ${ms.toFixed(2)} ms, ${(passes[0]!.bytes / audioS / 1_000).toFixed(1)} kB`);
    }
    return { measured: `${found.join("; ")} (${audioS.toFixed(0)} s of speech)`, isMet: worstMs <= 6 };
  },
};

type Jobs = Readonly<Record<string, LoadJob>>;

function speechJobs(server: ServerProcess, clients: number, formats: readonly Encoding[]): Jobs {
  const jobs = formats.map((format): [string, LoadJob] => {
    const bodyOf = (input: string) => JSON.stringify({ model: "tts-1", input, response_format: format });
    return [
      format,
      { ...tenWords(server, clients), path: "/v1/audio/speech", bodies: TEN_WORDS.map(bodyOf) },
    ];
  });
  return Object.fromEntries(jobs);
}

/** Turn and turn about, because a machine is not equally fast all the time. The first of each is not counted. */
async function inTurns(jobs: Jobs, rounds: number, requests: number) {
  const heard: Record<string, Awaited<ReturnType<typeof runLoad>>> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, job] of Object.entries(jobs)) {
      const utterances = await runLoad({ ...job, requests, seed: round + 2 });
      if (round >= 0) heard[name] = [...(heard[name] ?? []), ...utterances];
    }
  }
  return heard;
}

/** Some tens of seconds of the voice, in frames. */
async function speech(): Promise<Int16Array[]> {
  const voice = await openEmbeddedVoice({ threads: 1 });
  try {
    const prepared = resolveTts({ text: TURNS.join(" "), params: { temperature: 0 } }, (id) =>
      findModel(PUBLIC_MODELS, id),
    );
    const frames: Int16Array[] = [];
    const script = buildScript(prepared, prepared.model.preset);
    for await (const { samples } of voice.speak(script, new AbortController().signal)) {
      frames.push(toPcm16(samples));
    }
    return frames;
  } finally {
    await voice.close();
  }
}

async function costOf(encoding: Encoding, frames: readonly Int16Array[]) {
  const before = process.cpuUsage();
  const encoder = await openEncoder(encoding);
  let bytes = encoder.head().length;
  for (const frame of frames) bytes += encoder.push(frame).length;
  bytes += encoder.end().length;
  encoder.free();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1_000, bytes };
}
