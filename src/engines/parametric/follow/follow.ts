import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { createTimbre } from "../colour.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { BANDS } from "../listen/bands.ts";
import { deviation } from "../listen/deviation.ts";
import { trackPitch } from "../listen/pitch-track.ts";
import { pitchLogs, type VoiceProfile } from "../listen/voice-profile.ts";
import type { Work } from "../listen/work.ts";
import type { Network } from "../network.ts";
import type { Timing } from "../plan.ts";
import type { Speaker, Voice } from "../speakers.ts";
import { type Colouring, PLAIN } from "../waveform.ts";
import { pauseFactor } from "./entrainment.ts";
import { learnSoundMap } from "./learn-sound-map.ts";
import { mendedMap } from "./mend-sound-map.ts";
import { hearingBias, mappedRegister, mended, type PitchMap, pitchMap, USUAL_BIAS } from "./pitch-map.ts";
import { decodeRehearsed, type OwnPitch, rehearse } from "./rehearsal.ts";
import { createMappedColouring, type SoundMap } from "./sound-map.ts";

/** How much is followed: each takes in what the ones before do. */
export type Following = "pitch" | "pace" | "tract" | "all";

/** What following needs of the voice. */
export interface Instrument {
  readonly network: Network;
  readonly kernel: Kernel;
  /** Does work in pieces, letting others go first. */
  run<T>(work: Work<T>): Promise<T>;
  /** The rehearsed sentences, as the network reads them. */
  readonly timings: readonly Timing[];
  readonly pitch: OwnPitch;
}

/** What there is to follow. */
export interface Model {
  readonly profile: VoiceProfile;
  /** The voice that is begun with. */
  readonly start: Voice;
  /** Length of the vocal tract, as `estimateWarp` has it. */
  readonly warp: number;
  /** As `heardTempo` has it. */
  readonly tempo: number;
}

/** A voice on its way to somebody's, and how far it went. */
export interface Followed {
  readonly speaker: Speaker;
  /** Against the voice that was begun with: pitch in semitones, its range as a ratio. */
  readonly pitchSemitones: number;
  readonly pitchRange: number;
  readonly warp: number;
  readonly levelDb: number;
  /** Root mean square of the gains that all sounds have in common, in decibels. */
  readonly spectrumDb: number;
}

/**
 * Follows a model by editing a plan's durations, pitch and energy before the decoder and its spectra behind it. The
 * edits are rehearsed once on fixed sentences: what is measured on our own speech then corrects them.
 */
export async function follow(
  instrument: Instrument,
  { profile, start, warp, tempo }: Model,
  following: Following,
): Promise<Followed> {
  const { run, kernel, network, timings } = instrument;
  const { trust } = profile.suitability;
  const hasTract = following === "tract" || following === "all";
  const bent = hasTract
    ? within(start.warp * (warp / start.warp) ** (TRACT_SHARE * trust), SHORTEST_TRACT, LONGEST_TRACT)
    : start.warp;
  const tilt = hasTract ? tiltFor(bent) : start.tiltDbPerOctave;
  const under: Colouring =
    bent === 1 && tilt === 0 ? PLAIN : createTimbre({ warp: bent, tiltDbPerOctave: tilt });
  const pace =
    following === "pitch"
      ? { tempo: 1, pause: 1 }
      : { tempo: within(tempo ** trust, SLOWEST, FASTEST), pause: pauseFactor(profile, trust * PAUSE_SHARE) };

  const { sentences } = instrument.pitch;
  const mapped = pitchMap(instrument.pitch, start, profile.pitch, trust);
  let pitch = mended(mapped, sentences, USUAL_BIAS);
  let sound: SoundMap | null = null;
  let loudnessLufs = start.loudnessLufs;
  let dynamics = 1;
  if (hasTract) {
    const decoded = await decodeRehearsed(network, timings, mappedRegister(pitch));
    const bare = await run(rehearse(kernel, decoded, () => under));
    let heard = bare;
    if (following === "all") {
      const { bandEdgeHz } = profile.recording;
      const theirs = { sound: profile.sound, bandEdgeHz, strength: trust };
      const map = learnSoundMap(bare, theirs);
      heard = await run(
        rehearse(kernel, decoded, ({ pitchHz }) => createMappedColouring(under, map, pitchHz)),
      );
      sound = mendedMap(map, bare.sound, heard.sound, theirs);
    }
    dynamics = within(
      (levelSpread(profile.sound) / levelSpread(bare.sound)) ** (DYNAMICS_SHARE * trust),
      LEAST_DYNAMICS,
      MOST_DYNAMICS,
    );
    const { pitchHz } = await run(trackPitch(heard.samples, SAMPLE_RATE_HZ));
    const bias = hearingBias(pitch, sentences.slice(0, decoded.length), pitchLogs(pitchHz));
    pitch = mended(mapped, sentences, bias);
    loudnessLufs = heard.loudnessLufs + LOUDER_ELSEWHERE_LU;
  }
  const wantedDb = profile.loudnessLufs === null ? 0 : trust * (profile.loudnessLufs - start.loudnessLufs);
  const levelDb = within(wantedDb, QUIETEST_LUFS - start.loudnessLufs, LOUDEST_LUFS - start.loudnessLufs);
  const gainDb = start.loudnessLufs + levelDb - loudnessLufs;
  return {
    speaker: {
      register: mappedRegister(pitch),
      colour: ({ pitchHz }) => (sound === null ? under : createMappedColouring(under, sound, pitchHz)),
      ...pace,
      dynamics,
      gain: 10 ** (gainDb / 20),
    },
    pitchSemitones: (12 * (pitch.centre - pitch.ownCentre - Math.log(start.level))) / Math.LN2,
    pitchRange: rangeOf(pitch) / start.range,
    warp: bent,
    levelDb,
    spectrumDb: sound === null ? 0 : rmsDb(sound),
  };
}

/** How far a sound's level moves: the standard deviation of its frames' log powers. */
function levelSpread(sound: Float32Array): number {
  const levels = Array.from({ length: sound.length / BANDS }, (_, frame) => {
    let power = 0;
    for (let band = 0; band < BANDS; band++) power += Math.exp(sound[frame * BANDS + band]!);
    return Math.log(power);
  });
  return deviation(levels) || 1;
}

/** The treble that a longer tract costs is put back, as for the voice `1`. */
function tiltFor(warp: number): number {
  return within(((1 - warp) / 0.16) * 2, 0, 2);
}

function rangeOf({ own, theirs }: PitchMap): number {
  return (theirs.at(-1)! - theirs[0]!) / (own.at(-1)! - own[0]! || 1);
}

function rmsDb({ gains, kinds }: SoundMap): number {
  let sum = 0;
  for (let band = 0; band < BANDS; band++) {
    let mean = 0;
    for (let kind = 0; kind < kinds; kind++) mean += gains[kind * BANDS + band]! / kinds;
    sum += mean * mean;
  }
  return (Math.sqrt(sum / BANDS) * 10) / Math.LN10;
}

function within(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

const SHORTEST_TRACT = 0.8;
/** A shorter tract than our own costs naturalness at once. */
const LONGEST_TRACT = 1.05;
/** Words stay understood. */
const SLOWEST = 0.72;
const FASTEST = 1.22;
const PAUSE_SHARE = 0.5;
/** An estimate of the tract is out by a few per cent, and each costs naturalness. */
const TRACT_SHARE = 0.6;
const DYNAMICS_SHARE = 0.5;
const LEAST_DYNAMICS = 0.92;
const MOST_DYNAMICS = 1.08;
/** Other sentences are louder than the rehearsed ones by this (the Harvard sentences, mean over fourteen speakers). */
const LOUDER_ELSEWHERE_LU = 0.7;
/** Louder than this our peaks would be bent. */
const LOUDEST_LUFS = -16.5;
const QUIETEST_LUFS = -36;
