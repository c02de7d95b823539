import type { Command } from "commander";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

interface PullFlags {
  readonly acceptLicence?: boolean;
}

/** Registers `antiphon models list|pull|rm`. */
export function registerModels(program: Command, io: CommandIo): void {
  const models = addGlobalOptions(program.command("models")).description("list, fetch and remove models");

  addGlobalOptions(models.command("list"))
    .description("list the public models, and the checkpoints that speak, write and hear for them")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { listModels, formatListing } = await import("./models-list.ts");
      const listing = await listModels(await settingsOf(command, io));
      io.stdout.write(json === true ? `${JSON.stringify(listing)}\n` : formatListing(listing, io.stdout));
    });

  addGlobalOptions(models.command("pull"))
    .description("fetch checkpoints that are missing or damaged")
    .addHelpText("after", PULL_VARIABLES)
    .argument(
      "<name...>",
      "a checkpoint as `antiphon models list` prints it (qwen3-1.7b, csm-1b …), `recogniser`, or hf:OWNER/REPO[:FILE] for a GGUF on the hub",
    )
    .option("--accept-licence", "accept the licences of models from the hub without being asked")
    .action(async (names: string[], { acceptLicence = false }: PullFlags, command: Command) => {
      const { pullModels } = await import("./models-pull.ts");
      await pullModels(names, await settingsOf(command, io), { acceptLicence }, io);
    });

  addGlobalOptions(models.command("rm"))
    .description("remove a checkpoint that was pulled")
    .argument("<name>", "a checkpoint as `antiphon models list` prints it, or `recogniser`")
    .action(async (name: string, _options: object, command: Command) => {
      const { removeModel } = await import("./models-pull.ts");
      const { dataDir } = await settingsOf(command, io);
      await removeModel(name, dataDir, io);
    });
}

const PULL_VARIABLES = `
Environment:
  HF_TOKEN     token for repositories of the hub that want to know who asks
  HF_ENDPOINT  https address of a mirror that is laid out like the hub
  PYTHON       interpreter whose pip is asked where the hub cannot be reached (default: python3); pip reads its own variables`;
