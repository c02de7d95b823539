import type { VoiceBaselineOptions } from "../../../../src/engines/embedded/following/follower.ts";
import { createKernel } from "../../../../src/engines/embedded/kernel/kernel.ts";
import { openNetwork } from "../../../../src/engines/embedded/network.ts";
import { openTextReader } from "../../../../src/engines/prosody/read-text.ts";
import { finish } from "../../following/analysis/finish.ts";
import { tables, VOICE_DIR } from "../voice.ts";

/** Opens what following needs of the embedded voice, without a model. */
export async function openFollowContext(): Promise<VoiceBaselineOptions & { close(): Promise<void> }> {
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
