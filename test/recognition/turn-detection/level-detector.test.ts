import { levelDetector, pauseJudge } from "../../../src/recognition/turn-detection/level-detector.ts";
import { turnJudgeConformance, voiceActivityConformance } from "./conformance.ts";

voiceActivityConformance("levelDetector", async () => levelDetector());
turnJudgeConformance("pauseJudge", async () => pauseJudge());
