#!/usr/bin/env node
import { Command } from "commander";
import { addGlobalOptions, run } from "../terminal/global-options.ts";
import { registerBench } from "./bench.ts";
import { registerCheck } from "./check.ts";
import { registerCheckpoint } from "./checkpoint.ts";
import { registerKeys } from "./keys.ts";
import { registerModels } from "./models.ts";
import { registerPhonemes } from "./phonemes.ts";
import { registerSay } from "./say.ts";
import { registerServe } from "./serve.ts";
import { registerTranscribe } from "./transcribe.ts";
import { registerUsage } from "./usage.ts";

const program = addGlobalOptions(new Command("antiphon"));
program.description(
  "A conversational speech server: it takes a conversation and completes the last turn aloud.",
);

registerServe(program);
registerKeys(program);
registerUsage(program);
registerCheck(program);
registerSay(program);
registerTranscribe(program);
registerPhonemes(program);
registerModels(program);
registerCheckpoint(program);
registerBench(program);

await run(program, process.argv);
