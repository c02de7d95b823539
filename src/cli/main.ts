#!/usr/bin/env node
import { Command } from "commander";
import { addGlobalOptions, run } from "./global-options.ts";
import { registerKeys } from "./keys.ts";
import { registerUsage } from "./usage.ts";

const program = addGlobalOptions(new Command("antiphon"));
program.description(
  "A conversational speech server: it takes a conversation and completes the last turn aloud.",
);

registerKeys(program);
registerUsage(program);

await run(program, process.argv);
