import { join } from "node:path";
import { debianRecordings } from "../debian-recordings.ts";
import { startHearingServer, wavOf } from "../hearing/hearing-server.ts";
import { CLIPS_WITH_WORDS } from "../hearing/human-clips.ts";
import { clipOf, mixed, noise, randomFor, rmsOf, scaledToRms } from "../hearing/sounds.ts";
import { percentile } from "../load/percentile.ts";
import type { Pythons } from "../python.ts";
import { readClip } from "../read-clip.ts";
import { wordErrors } from "../word-errors.ts";
import { TRANSCRIBER, WHISPER_WEIGHTS } from "./contenders.ts";
import { treeCpuS, treeMemoryMb } from "./process-tree.ts";
import { installPeer, type RunningServer } from "./servers.ts";

export interface TranscribingFigures {
  readonly name: string;
  readonly clips: number;
  readonly words: number;
  readonly cleanErrors: number;
  /** White noise 10 dB below the speech. */
  readonly noisyErrors: number;
  readonly cpuPerSoundS: number;
  /** Length of a request, p50. */
  readonly tookMs: number;
  readonly peakMb: number;
}

interface Transcriber {
  readonly name: string;
  readonly server: RunningServer;
  /** Name and value of the form's field. faster-whisper-server 0.0.3 reads another than OpenAI's. */
  readonly model: readonly [name: string, value: string];
}

/**
 * Whisper base on both sides, over `POST /v1/audio/transcriptions` with the language given, clip by clip in turns.
 *
 * @throws NotMeasuredError when the recordings, the weights or the other server cannot be had
 */
export async function transcribeInTurns(
  python: Pythons,
  most: number,
  note: (text: string) => void,
): Promise<readonly TranscribingFigures[]> {
  const folder = await debianRecordings("hearing-words", CLIPS_WITH_WORDS, python, note);
  // "Thirty three four six" may be written in several ways.
  const known = CLIPS_WITH_WORDS.filter(({ name }) => name !== "dhd-numbers").slice(0, most);
  const peer = await installPeer("faster-whisper", TRANSCRIBER, note, WHISPER_WEIGHTS);
  const own = await startHearingServer();
  const servers: RunningServer[] = [
    { ...own, headers: { authorization: `Bearer ${own.key}` }, readyMs: own.startMs },
  ];
  try {
    servers.push(await peer.start());
    const [antiphon, other] = servers as [RunningServer, RunningServer];
    const transcribers: readonly Transcriber[] = [
      { name: "Antiphon", server: antiphon, model: ["model", "whisper-1"] },
      { name: "faster-whisper, beam of 5", server: other, model: ["model_name", "beam-5"] },
      { name: "faster-whisper, greedy", server: other, model: ["model_name", "beam-1"] },
    ];
    const sums = transcribers.map(() => ({
      words: 0,
      clean: 0,
      noisy: 0,
      cpuS: 0,
      soundS: 0,
      ms: [] as number[],
    }));
    const warmUp = wavOf(await readClip(join(folder, `${known[0]!.name}.wav`)));
    for (const transcriber of transcribers) await transcribe(transcriber, warmUp);
    for (const { name, transcript } of known) {
      const clip = await readClip(join(folder, `${name}.wav`));
      const hiss = scaledToRms(
        noise(clip.durationS, 0, randomFor(name)),
        rmsOf(clip.samples) * 10 ** (-10 / 20),
      );
      const noisy = clipOf(mixed([clip.samples, hiss]), name, clip.sampleRateHz);
      for (const [at, transcriber] of transcribers.entries()) {
        const sum = sums[at]!;
        for (const [kind, sound] of [
          ["clean", clip],
          ["noisy", noisy],
        ] as const) {
          const [cpuS, fromMs] = [treeCpuS(transcriber.server.pid), performance.now()];
          const { errors, words } = wordErrors(transcript!, await transcribe(transcriber, wavOf(sound)));
          sum.ms.push(performance.now() - fromMs);
          sum.cpuS += treeCpuS(transcriber.server.pid) - cpuS;
          sum.soundS += sound.durationS;
          sum[kind] += errors;
          if (kind === "clean") sum.words += words;
        }
      }
    }
    return transcribers.map(({ name, server }, at) => {
      const { words, clean, noisy, cpuS, soundS, ms } = sums[at]!;
      return {
        ...{ name, clips: known.length, words, cleanErrors: clean, noisyErrors: noisy },
        ...{ cpuPerSoundS: cpuS / soundS, tookMs: percentile(ms, 0.5) },
        peakMb: treeMemoryMb(server.pid).peak,
      };
    });
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function transcribe({ server, model }: Transcriber, wav: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set(model[0], model[1]);
  form.set("language", "en");
  form.set("file", new Blob([Buffer.from(wav)]), "clip.wav");
  const { url, headers } = server;
  const reply = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`a transcription failed: ${reply.status} ${text.slice(0, 200)}`);
  return (JSON.parse(text) as { readonly text: string }).text;
}
