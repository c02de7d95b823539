import type { Tokenizer } from "../../../onnx/tokenizer.ts";
import { CheckpointError, OptionError } from "../fields.ts";
import type { CodeFrame } from "../networks/frame-decoder.ts";
import type { Qwen3TtsConfig } from "./config.ts";

/**
 * What the talker reads at one position: a token of text, and beside it a control row, the vector of a voice, or a frame.
 * `null`: nothing there. The two are added.
 */
export interface Row {
  readonly text: number | null;
  readonly codec: number | "voice" | CodeFrame | null;
}

/** What is to be spoken, and how. */
export interface Script {
  readonly text: string;
  /** Of the checkpoint's languages, or `auto`. */
  readonly language: string;
  /** A preset; `"voice"`, what the speaker encoder made; or `null`: none. */
  readonly speaker: { readonly preset: string } | "voice" | null;
  /** How to speak; `null`: nothing is said of it. */
  readonly instruction: string | null;
  /** What was spoken in that voice before. */
  readonly reference: { readonly text: string; readonly frames: readonly CodeFrame[] } | null;
  /** Whether all of the text is read before anything is spoken; otherwise it is read as the speech goes on. */
  readonly isTextFirst: boolean;
}

export interface Prompt {
  readonly rows: readonly Row[];
  /** Tokens of text that are read with one frame each; after them it is `textPad`. */
  readonly trailing: readonly number[];
}

/**
 * Writes what the talker reads before the first frame, as the reference's `generate` and `generate_icl_prompt` do.
 *
 * @throws OptionError when the language or the preset is unknown; CheckpointError when there is nothing to be spoken
 */
export function promptOf(script: Script, tokenizer: Tokenizer, config: Qwen3TtsConfig): Prompt {
  const { ids } = config;
  const { instruction, reference, isTextFirst } = script;
  const textOnly = (tokens: readonly number[]): Row[] => tokens.map((text) => ({ text, codec: null }));
  const rows = [
    ...(instruction === null ? [] : textOnly(instructionIds(instruction, tokenizer, config))),
    ...textOnly([ids.imStart, ...tokenizer.encode("assistant\n")]),
    ...voiceRows(script, config),
  ];
  const text = textIds(script.text, tokenizer);
  if (text.length === 0)
    throw new CheckpointError("There is nothing to be spoken: the open turn's text is empty.");

  if (reference === null) {
    if (isTextFirst) {
      const read = [...text, ids.textEnd].map((token): Row => ({ text: token, codec: ids.pad }));
      return { rows: [...rows, ...read, { text: ids.textPad, codec: ids.begin }], trailing: [] };
    }
    const [first, ...others] = text;
    return {
      rows: [...rows, { text: first!, codec: ids.begin }],
      trailing: [...others, ids.textEnd],
    };
  }

  const all = [...textIds(reference.text, tokenizer), ...text, ids.textEnd];
  const heard = [ids.begin, ...reference.frames];
  if (isTextFirst) {
    const read = all.map((token): Row => ({ text: token, codec: ids.pad }));
    const sounded = heard.map((codec): Row => ({ text: ids.textPad, codec }));
    return { rows: [...rows, ...read, ...sounded], trailing: [] };
  }
  const beside = heard.map((codec, at): Row => ({ text: all[at] ?? ids.textPad, codec }));
  return { rows: [...rows, ...beside], trailing: all.slice(heard.length) };
}

/**
 * A text's tokens. White space around it is left out: a line break at its beginning would become one token with that of
 * the role before it, and what marks the role would be lost.
 */
function textIds(text: string, tokenizer: Tokenizer): number[] {
  return tokenizer.encode(text.trim());
}

function instructionIds(instruction: string, tokenizer: Tokenizer, { ids }: Qwen3TtsConfig): number[] {
  return [
    ids.imStart,
    ...tokenizer.encode("user\n"),
    ...textIds(instruction, tokenizer),
    ids.imEnd,
    ...tokenizer.encode("\n"),
  ];
}

/** The language, and the voice. */
function voiceRows({ language, speaker }: Script, config: Qwen3TtsConfig): Row[] {
  const { ids, languages, speakers, dialects } = config;
  const preset = speaker === null || speaker === "voice" ? null : speaker.preset.toLowerCase();
  const speakerRow = preset === null ? null : speakers.get(preset);
  if (speakerRow === undefined) {
    const known = speakers.size === 0 ? "none" : [...speakers.keys()].join(", ");
    throw new OptionError(`There is no speaker ${preset} in this checkpoint; it has ${known}.`);
  }
  const dialect = preset === null ? undefined : dialects.get(preset);
  const asked = language.toLowerCase();
  const isOpen = asked === "auto" || asked === "chinese";
  const spoken = isOpen && dialect !== undefined ? dialect : asked;
  const languageRow = languages.get(spoken);
  if (languageRow === undefined && spoken !== "auto") {
    throw new OptionError(
      `The language ${language} is not one of this checkpoint's: ${[...languages.keys()].join(", ")}, or auto.`,
    );
  }
  const thought =
    languageRow === undefined
      ? [ids.noThink, ids.thinkBegin, ids.thinkEnd]
      : [ids.think, ids.thinkBegin, languageRow, ids.thinkEnd];
  const voice: Row["codec"] = speaker === "voice" ? speaker : speakerRow;
  return [
    ...[...thought, ...(voice === null ? [] : [voice])].map((codec) => ({ text: ids.textPad, codec })),
    { text: ids.textBegin, codec: ids.pad },
  ];
}
