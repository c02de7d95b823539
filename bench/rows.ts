import type { Row } from "./row.ts";
import { authoredBesideStreams, authoredFirstAudio, writerMemory } from "./rows/authored.ts";
import { cast } from "./rows/cast.ts";
import { csmFrames, qwen3TtsFrames } from "./rows/codec-lm.ts";
import { codecLmLoad } from "./rows/codec-lm-load.ts";
import { collections } from "./rows/collections.ts";
import { crowd } from "./rows/crowd.ts";
import { crowdMemory } from "./rows/crowd-memory.ts";
import { dialogue } from "./rows/dialogue.ts";
import { engineCpu } from "./rows/engine-cpu.ts";
import { eightClients, firstAudio } from "./rows/first-audio.ts";
import { fleetFirstAudio, fleetRestart } from "./rows/fleet.ts";
import { followingLoudness, followingPitch, followingSpectrum } from "./rows/following-acoustics.ts";
import { followingNaturalness, followingVoice } from "./rows/following-likeness.ts";
import { followingRate } from "./rows/following-rate.ts";
import { followingWords } from "./rows/following-words.ts";
import { encoderCpu, formatsEightClients, formatsFirstByte } from "./rows/formats.ts";
import { gate } from "./rows/gate.ts";
import { hearingLanguage } from "./rows/hearing-language.ts";
import { hearingMemory } from "./rows/hearing-memory.ts";
import { hearingNotSpeech } from "./rows/hearing-not-speech.ts";
import { hearingPace } from "./rows/hearing-pace.ts";
import { hearingTime } from "./rows/hearing-time.ts";
import { hearingTranslation } from "./rows/hearing-translation.ts";
import { hearingBeside, hearingTurn } from "./rows/hearing-turns.ts";
import { hearingWordTimes } from "./rows/hearing-word-times.ts";
import { hearingPeople, hearingWords } from "./rows/hearing-words.ts";
import { kokoro } from "./rows/kokoro.ts";
import { kokoroWords } from "./rows/kokoro-words.ts";
import { largerWriter } from "./rows/larger-writer.ts";
import { libraryMemory } from "./rows/library-memory.ts";
import { listening } from "./rows/listening.ts";
import { longTexts } from "./rows/long-texts.ts";
import { loop } from "./rows/loop.ts";
import { manners } from "./rows/manners.ts";
import { memory } from "./rows/memory.ts";
import { naturalness } from "./rows/naturalness.ts";
import { networkGoldens } from "./rows/network-goldens.ts";
import { overhead } from "./rows/overhead.ts";
import { overload } from "./rows/overload.ts";
import { pairs } from "./rows/pairs.ts";
import { pauses } from "./rows/pauses.ts";
import { phonemes } from "./rows/phonemes.ts";
import { player } from "./rows/player.ts";
import { realtimeBargeIn } from "./rows/realtime-barge-in.ts";
import { realtimeBeside } from "./rows/realtime-beside.ts";
import { realtimeCutShort } from "./rows/realtime-cut-short.ts";
import { realtimeEar } from "./rows/realtime-ear.ts";
import { realtimeFalseStarts } from "./rows/realtime-false-starts.ts";
import { realtimeFirstAudio } from "./rows/realtime-first-audio.ts";
import { realtimeHostile } from "./rows/realtime-hostile.ts";
import { realtimeSessions } from "./rows/realtime-sessions.ts";
import { realtimeTalks } from "./rows/realtime-talks.ts";
import { recordingsBeside } from "./rows/recordings-beside.ts";
import { recordingsCpu } from "./rows/recordings-cpu.ts";
import { recordingsMemory } from "./rows/recordings-memory.ts";
import { remote } from "./rows/remote.ts";
import { rounding } from "./rows/rounding.ts";
import { buzz, clicks, thumps } from "./rows/sound.ts";
import { start } from "./rows/start.ts";
import { storePostgres } from "./rows/store-postgres.ts";
import { streams } from "./rows/streams.ts";
import { takeValkey } from "./rows/take-valkey.ts";
import { words } from "./rows/words.ts";
import { wyomingFlood } from "./rows/wyoming-flood.ts";

/** The table, in its order. */
export const ROWS: readonly Row[] = [
  firstAudio,
  eightClients,
  overhead,
  engineCpu,
  collections,
  streams,
  overload,
  memory,
  libraryMemory,
  start,
  words,
  naturalness,
  cast,
  dialogue,
  manners,
  clicks,
  thumps,
  buzz,
  phonemes,
  longTexts,
  networkGoldens,
  rounding,
  followingPitch,
  followingSpectrum,
  followingLoudness,
  followingRate,
  followingVoice,
  followingWords,
  followingNaturalness,
  listening,
  authoredFirstAudio,
  authoredBesideStreams,
  writerMemory,
  largerWriter,
  gate,
  crowd,
  pauses,
  crowdMemory,
  hearingWords,
  hearingPeople,
  hearingNotSpeech,
  hearingLanguage,
  hearingTranslation,
  hearingTime,
  hearingTurn,
  hearingBeside,
  hearingMemory,
  hearingPace,
  hearingWordTimes,
  recordingsBeside,
  recordingsMemory,
  recordingsCpu,
  realtimeFirstAudio,
  realtimeCutShort,
  realtimeTalks,
  realtimeBargeIn,
  realtimeSessions,
  realtimeHostile,
  realtimeBeside,
  realtimeEar,
  realtimeFalseStarts,
  wyomingFlood,
  formatsFirstByte,
  formatsEightClients,
  encoderCpu,
  player,
  fleetFirstAudio,
  fleetRestart,
  takeValkey,
  storePostgres,
  remote,
  csmFrames,
  qwen3TtsFrames,
  codecLmLoad,
  kokoro,
  kokoroWords,
  loop,
  pairs,
];
