import { createKernel } from "../../src/engines/embedded/kernel/kernel.ts";
import { SPECTRUM_VALUES } from "../../src/engines/embedded/kernel/layout.ts";
import { openNetwork } from "../../src/engines/embedded/network.ts";
import { planContour, planTiming } from "../../src/engines/prosody/plan.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import {
  apartFrom,
  decoded,
  furthest,
  OFFSETS,
  readGoldens,
  synthesise,
} from "../../test/engines/embedded/goldens.ts";
import { rms } from "../../test/engines/embedded/listening.ts";
import type { Row } from "../row.ts";

/**
 * Differences from `test/golden/voice/network.json` over its five sentences, with that file's tolerances.
 */
export const networkGoldens: Row = {
  id: "network",
  what: "network goldens: in float32, largest differences; in 8 bits, root mean squares",
  goal: "durations equal, F0 0.1 Hz, energy 0.01, spectra 0.01, level 1 %; durations within a step, length within 2 %, F0 2 Hz, spectra 0.2",
  async measure() {
    const network = await openNetwork(embeddedCheckpoint.dir, "fp32");
    const rounded = await openNetwork(embeddedCheckpoint.dir, "int8");
    const kernel = await createKernel();
    try {
      const { meta, cases } = await readGoldens();
      const allowed = meta.tolerance.float;
      const worst = { durations: 0, steps: 0, pitchHz: 0, energy: 0, spectra: 0, level: 0 };
      const see = (name: keyof typeof worst, difference: number) => {
        worst[name] = Math.max(worst[name], difference);
      };
      for (const golden of cases) {
        const timing = await planTiming(network, golden.ids);
        const plan = await planContour(network, timing);
        see("steps", furthest(timing.steps, golden.durations_raw));
        see("durations", furthest(plan.steps, golden.durations_25ms));
        see("pitchHz", furthest(plan.pitchHz, golden.f0));
        see("energy", furthest(plan.energy, golden.energy));
        const spectra = await decoded(network, plan);
        for (const [name, offset] of Object.entries(OFFSETS) as [keyof typeof OFFSETS, number][]) {
          golden[name].forEach((wanted, row) => {
            const frame = row < 5 ? row : plan.frames - 10 + row;
            const at = frame * SPECTRUM_VALUES + offset;
            see(
              "spectra",
              furthest(
                meta.bins.map((bin) => spectra[at + bin]!),
                wanted,
              ),
            );
          });
        }
        see("level", Math.abs(rms(synthesise(kernel, plan, spectra)) / golden.wave.rms - 1));
      }
      const most = { steps: 0, length: 0, pitchHz: 0, spectra: 0 };
      for (const golden of cases) {
        const own = await apartFrom(golden, meta.bins, rounded);
        for (const name of ["steps", "length", "pitchHz", "spectra"] as const)
          most[name] = Math.max(most[name], own[name]);
      }
      return {
        measured:
          `durations ${worst.durations === 0 ? "equal" : `differ by ${worst.durations}`}, F0 ${worst.pitchHz.toFixed(3)} Hz, ` +
          `energy ${worst.energy.toFixed(4)}, spectra ${worst.spectra.toFixed(4)}, level ${(100 * worst.level).toFixed(3)} %; ` +
          `durations within ${most.steps}, length ${(100 * most.length).toFixed(2)} %, F0 ${most.pitchHz.toFixed(2)} Hz, spectra ${most.spectra.toFixed(3)}`,
        isMet:
          worst.durations === 0 &&
          worst.steps <= allowed.durations_raw &&
          worst.pitchHz <= allowed.f0_hz &&
          worst.energy <= allowed.energy &&
          worst.spectra <= allowed.lh_theta_ln_lr_phi_max &&
          worst.level <= allowed.wave_rms_relative &&
          most.steps <= 1 &&
          most.length <= 0.02 &&
          most.pitchHz <= meta.tolerance.int8.f0_hz_rms_voiced &&
          most.spectra <= meta.tolerance.int8.lh_theta_ln_lr_phi_rms,
      };
    } finally {
      await Promise.all([network.close(), rounded.close()]);
    }
  },
};
