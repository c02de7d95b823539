import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstAudioMs } from "../first-audio-ms.ts";
import { LineProgram } from "../line-program.ts";
import { type LoadJob, runLoad } from "../load/load-job.ts";
import { median, percentile } from "../load/percentile.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import type { Called, Calls } from "../remote/calls.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

/** Ten seconds of speech, and half a second. */
const LONG = "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background. "
  .repeat(2)
  .trim();
const SHORT = "It is easy.";
const STREAMS = 32;

/**
 * An endpoint sends tones as WAV, a frame every 40 ms. 32 requests of ten seconds at once: user and system
 * time, medians of six passes. Then half a second of speech, 80 pairs, and the same requests through
 * `antiphon serve`.
 */
export const remote: Row = {
  id: "remote",
  what:
    "a model that is spoken elsewhere, 32 streams at twice the pace of speech: CPU time a second of audio (a client that " +
    "only reads; from 44.1 kHz; another Antiphon's stream); its first frame after such a client's; the server's after the endpoint's own",
  goal: "≤ 3 ms; p50 ≤ 5 ms; p50 ≤ 5 ms",
  async measure({ isQuick }) {
    const [endpoint, other, antiphon] = [
      await program("remote/endpoint.js"),
      await program("remote/endpoint.js", "--rate", "44100"),
      await program("tone-server.js"),
    ];
    const caller = new LineProgram(
      spawn(process.execPath, [join(TOP, "dist", "bench", "remote", "caller.js")]),
    );
    try {
      await caller.next();
      const called = async (server: ServerProcess, how: Calls["how"], streams: number, text: string) => {
        const { url, key } = server;
        return (await caller.ask({ url, key, how, streams, text } satisfies Calls)) as Called;
      };
      const cpu: Record<string, number[]> = { bare: [], openai: [], other: [], antiphon: [] };
      for (let pass = 0; pass < (isQuick ? 2 : 6); pass++) {
        const passes = {
          bare: await called(endpoint, "bare", STREAMS, LONG),
          openai: await called(endpoint, "openai", STREAMS, LONG),
          other: await called(other, "openai", STREAMS, LONG),
          antiphon: await called(antiphon, "antiphon", STREAMS, LONG),
        };
        for (const [name, { cpuS, audioS }] of Object.entries(passes))
          cpu[name]?.push((1_000 * cpuS) / audioS);
      }
      const first: { bare: number[]; openai: number[] } = { bare: [], openai: [] };
      for (let pass = 0; pass < (isQuick ? 15 : 80); pass++) {
        for (const how of ["bare", "openai"] as const) {
          first[how].push(...(await called(endpoint, how, 1, SHORT)).firstMs);
        }
      }
      const beyond = first.openai.map((ms, pass) => ms - first.bare[pass]!);
      const served = await throughServer(endpoint, isQuick ? 10 : 60);
      const ms = (name: string) => median(cpu[name]!);
      return {
        measured:
          `${ms("openai").toFixed(1)} ms (${ms("bare").toFixed(1)} ms; ${ms("other").toFixed(1)} ms; ` +
          `${ms("antiphon").toFixed(1)} ms); p50 ${median(beyond).toFixed(1)} ms, p95 ${percentile(beyond, 0.95).toFixed(1)} ms; ` +
          `p50 ${served.toFixed(1)} ms`,
        isMet: ms("openai") <= 3 && median(beyond) <= 5 && served <= 5,
      };
    } finally {
      await caller.close();
      for (const server of [endpoint, other, antiphon]) await server.stop();
    }
  },
};

function program(file: string, ...flags: string[]): Promise<ServerProcess> {
  const args = [join(TOP, "dist", "bench", file), ...flags];
  return startServerProcess({ serve: { command: process.execPath, args, cwd: TOP, isWrapper: false } });
}

/** How much later a client has its first byte from a server whose model is that endpoint, p50 in milliseconds. */
async function throughServer(endpoint: ServerProcess, requests: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-remote-"));
  const config = join(folder, "antiphon.json");
  const voices = { "0": "0", "1": "1" };
  const there = { kind: "openai", urls: [`${endpoint.url}/v1`], model: "tts-1", voices };
  const settings = {
    models: { "svc-beta-v0.3": { checkpoint: "there" } },
    checkpoints: { there: { remote: there } },
    writer: { kind: "none" },
    recogniser: { kind: "none" },
  };
  await writeFile(config, JSON.stringify(settings));
  const args = [join(TOP, "dist", "src", "cli", "main.js"), "serve", "--no-pull", "--config", config];
  const server = await startServerProcess({
    serve: { command: process.execPath, args, cwd: TOP, isWrapper: false },
  });
  try {
    const job = ({ url, key }: ServerProcess): LoadJob => ({
      url,
      key,
      path: "/v1/audio/speech",
      bodies: [JSON.stringify({ model: "tts-1", voice: "0", input: SHORT, response_format: "pcm" })],
      clients: 1,
      pace: "at once",
      requests,
      pauseMs: { start: 0, between: 0 },
      seed: 1,
    });
    const own: number[] = [];
    const through: number[] = [];
    for (let round = 0; round < 3; round++) {
      own.push(firstAudioMs(await runLoad(job(endpoint))).p50);
      through.push(firstAudioMs(await runLoad(job(server))).p50);
    }
    return median(through) - median(own);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
