/** The kinds of danger or distress that a fixed reply answers. */
export const GATE_CATEGORIES = [
  "self-harm",
  "medical",
  "harm-others",
  "abuse",
  "victim",
  "dosing",
  "minors",
  "injection",
] as const;

export type GateCategory = (typeof GATE_CATEGORIES)[number];

/** Everything that a line can be: `benign` needs no gate. */
export type GateClass = GateCategory | "benign";
