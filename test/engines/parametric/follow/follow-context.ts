import type { OwnVoiceParts } from "../../../../src/engines/parametric/follow/own-voice.ts";
import { createKernel } from "../../../../src/engines/parametric/kernel/kernel.ts";
import { openNetwork } from "../../../../src/engines/parametric/network.ts";
import { openTextReader } from "../../../../src/planning/read-text.ts";
import { finish } from "../../../planning/listen/finish.ts";
import { tables, VOICE_DIR } from "../voice.ts";

/** What following needs of the embedded voice, without an engine around it. */
export async function openFollowContext(): Promise<OwnVoiceParts & { close(): Promise<void> }> {
  const [network, kernel, reader] = await Promise.all([
    openNetwork(VOICE_DIR),
    createKernel(),
    tables().then((loaded) => openTextReader(VOICE_DIR, { tables: loaded })),
  ]);
  return {
    network,
    kernel,
    reader,
    run: async (work) => finish(work),
    async close() {
      await Promise.all([network.close(), reader.close()]);
    },
  };
}
