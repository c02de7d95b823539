import { cpus } from "node:os";
import type { Command } from "commander";
import type { Speed, SpeedOptions } from "./bench/speed.ts";
import type { CommandIo, Screen } from "./terminal/command-io.ts";
import { addGlobalOptions } from "./terminal/global-options.ts";
import { table } from "./terminal/table.ts";

/** `antiphon bench`: the speed of this machine. */
export function registerBench(program: Command, { stdout, stderr }: CommandIo): void {
  addGlobalOptions(program.command("bench"))
    .description("measure how fast this machine speaks, through the service and by the engine alone")
    .option("--quick", "take a quarter of the time, with less certain results")
    .option("--json", "print JSON")
    .action(async ({ quick, json }: { quick?: boolean; json?: boolean }) => {
      const report = await measure(quick === true ? QUICK : THOROUGH, stderr);
      stdout.write(json === true ? `${JSON.stringify(report)}\n` : printed(report));
    });
}

/** What `bench --json` prints. */
export interface SpeedReport {
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
  readonly service: Speed;
  readonly engine: Speed;
}

const THOROUGH: SpeedOptions = { requests: 50, steps: [8, 16, 32, 48, 64, 96, 128], stepMs: 1_500 };
const QUICK: SpeedOptions = { requests: 10, steps: [8, 16, 32, 64], stepMs: 700 };

async function measure(options: SpeedOptions, stderr: Screen): Promise<SpeedReport> {
  const { serviceSpeed, engineSpeed } = await import("./bench/speed.ts");
  const progress = (text: string) => stderr.isTTY && stderr.write(`${text}\n`);
  progress("Measuring the service …");
  const service = await serviceSpeed(options);
  progress("Measuring the engine alone …");
  const engine = await engineSpeed(options);
  const processors = cpus();
  const machine = {
    cpu: processors[0]?.model ?? "unknown",
    cores: processors.length,
    node: process.version,
  };
  return { machine, service, engine };
}

function printed({ machine, service, engine }: SpeedReport): string {
  const row = (what: string, of: (speed: Speed) => string) => [what, of(service), of(engine)];
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}\n\n${table(
    ["WHAT", "SERVICE", "ENGINE ALONE"],
    [
      row("first audio of ten words, median", (speed) => ms(speed.first_audio_p50_ms)),
      row("first audio of ten words, p95", (speed) => ms(speed.first_audio_p95_ms)),
      row("seconds of computing a second of speech", (speed) => speed.real_time_factor.toFixed(3)),
      row("streams in real time at once", (speed) => String(speed.streams_held)),
    ],
  )}`;
}
