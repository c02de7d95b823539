import { isRecord } from "../../core/is-record.ts";
import type { CastVoice } from "../../core/model-card.ts";
import type { RemoteOptions } from "./dialect.ts";

/** Code units of what is taken over of a voice. */
const MAX_ID = 100;
const MAX_DESCRIPTION = 300;

/**
 * The voices in what a server answers to `GET /audio/voices`, each once: another Antiphon's by what it says of them, and of
 * other servers' every form that they have: names, or objects with an id or a name, in a list, or in `voices` or `data`. What
 * is no voice is passed over.
 *
 * @param list JSON of anybody's
 * @param maxVoices that are read
 */
export function readVoiceList(
  list: unknown,
  { kind, model }: Pick<RemoteOptions, "kind" | "model">,
  maxVoices: number,
): readonly CastVoice[] {
  const entries = kind === "antiphon" ? antiphonsVoices(list, model) : othersVoices(list);
  const byId = new Map<string, CastVoice>();
  for (const entry of entries) {
    if (byId.size === maxVoices) break;
    const voice = voiceOf(entry, kind);
    const key = voice?.id.toLowerCase() ?? "";
    if (voice !== null && !byId.has(key)) byId.set(key, voice);
  }
  return [...byId.values()];
}

/** Those that speak for its model; for its default one, which it does not name, those on its menu. */
function antiphonsVoices(list: unknown, model: string | null): readonly unknown[] {
  const { data, voices } = isRecord(list) ? list : {};
  if (!Array.isArray(data)) return [];
  if (model !== null) {
    return data.filter((each) => isRecord(each) && Array.isArray(each.models) && each.models.includes(model));
  }
  const menu = new Set(Array.isArray(voices) ? voices.map((each) => (isRecord(each) ? each.id : null)) : []);
  return data.filter((each) => isRecord(each) && menu.has(each.id));
}

function othersVoices(list: unknown): readonly unknown[] {
  const { voices, data } = isRecord(list) ? list : {};
  return [voices, data, list].find((each) => Array.isArray(each)) ?? [];
}

function voiceOf(entry: unknown, kind: RemoteOptions["kind"]): CastVoice | null {
  const told: Record<string, unknown> = isRecord(entry) ? entry : { id: entry };
  // A key's own has an id that means nothing here, and is known there by its name too.
  const id = told.owner === "key" ? told.name : (told.id ?? told.voice_id ?? told.name);
  if (!isText(id, MAX_ID)) return null;
  const plain: CastVoice = {
    id,
    name: id,
    sex: null,
    accent: null,
    description: `The server's voice “${id}”.`,
    aliases: [],
  };
  if (kind !== "antiphon") return plain;
  const { name, sex, accent, description } = told;
  return {
    ...plain,
    ...(isText(name, MAX_ID) ? { name } : {}),
    ...(sex === "female" || sex === "male" ? { sex } : {}),
    ...(isText(accent, MAX_ACCENT) ? { accent } : {}),
    ...(isText(description, MAX_DESCRIPTION) ? { description } : {}),
  };
}

/** Language tags are no longer. */
const MAX_ACCENT = 35;

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength;
}
