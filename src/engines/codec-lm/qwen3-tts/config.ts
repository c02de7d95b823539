import { CheckpointError, type Fields, readFields } from "../fields.ts";
import { HEAD_MULTIPLE, type TransformerSizes } from "../networks/transformer.ts";
import { type CodecSizes, codecSizes } from "./codec-decoder.ts";
import { type SpeakerEncoderSizes, speakerEncoderSizes } from "./speaker-encoder.ts";

/** Purpose of a checkpoint: to follow a clip, to speak as a preset, or in a described voice. */
export type Qwen3TtsKind = "base" | "custom_voice" | "voice_design";

/** Configuration of a Qwen3-TTS, 12 Hz (Alibaba, 2026; qwen-tts' `Qwen3TTSConfig`). */
export interface Qwen3TtsConfig {
  readonly kind: Qwen3TtsKind;
  /** "0b6" or "1b7". */
  readonly size: string;
  readonly talker: TransformerSizes;
  readonly predictor: TransformerSizes;
  readonly textTokens: number;
  /** Width of text embeddings before their projection. */
  readonly textWidth: number;
  readonly codes: number;
  /** Rows of the talker's codec embedding: the codes of a codebook, then {@link CONTROL_ROWS} control rows. */
  readonly rows: number;
  readonly codebooks: number;
  /** Ids of text tokens and of control rows. */
  readonly ids: Ids;
  /** Control rows by language in lower case. */
  readonly languages: ReadonlyMap<string, number>;
  /** Control rows by preset in lower case. */
  readonly speakers: ReadonlyMap<string, number>;
  /** Languages of presets that speak a dialect instead of Chinese. */
  readonly dialects: ReadonlyMap<string, string>;
  /** Only in base models. */
  readonly speakerEncoder: SpeakerEncoderSizes | null;
  readonly codec: CodecSizes;
}

export const CODEC_FOLDER = "speech_tokenizer";

/** Rows at the end of the talker's vocabulary that are not codes. */
export const CONTROL_ROWS = 1_024;

/** Parses `config.json`, and reads `speech_tokenizer/config.json`. @throws CheckpointError naming the field */
export async function qwen3TtsConfig(folder: string, config: Fields): Promise<Qwen3TtsConfig> {
  config.expect("tokenizer_type", "qwen3_tts_tokenizer_12hz");
  const codec = codecSizes(await readFields(folder, `${CODEC_FOLDER}/config.json`));
  const talker = config.group("talker_config");
  const predictor = talker.group("code_predictor_config");
  const kind = readKind(config);
  const codebooks = talker.integer("num_code_groups", undefined, 2);
  predictor.expect("num_code_groups", codebooks);
  const rows = talker.integer("vocab_size", undefined, CONTROL_ROWS + 1);
  const codes = predictor.integer("vocab_size");
  if (codes !== rows - CONTROL_ROWS || codes !== codec.decoder.codes || codebooks !== codec.codebooks) {
    throw new CheckpointError(
      `config.json: the talker has ${codebooks} codebooks of ${rows - CONTROL_ROWS} codes, its code predictor of ${codes}; the codec ${codec.codebooks} of ${codec.decoder.codes}.`,
    );
  }
  const talkerSizes = transformerSizes(talker);
  const speakerEncoder = kind === "base" ? speakerEncoderSizes(config.group("speaker_encoder_config")) : null;
  if (speakerEncoder !== null && speakerEncoder.width !== talkerSizes.width) {
    throw new CheckpointError(
      `config.json: a voice is ${speakerEncoder.width} numbers wide (enc_dim), the talker ${talkerSizes.width}.`,
    );
  }
  return {
    kind,
    size: config.text("tts_model_size"),
    talker: talkerSizes,
    // One position for the talker's state and one for each code of a frame but the last.
    predictor: { ...transformerSizes(predictor), positions: codebooks },
    textTokens: talker.integer("text_vocab_size"),
    textWidth: talker.integer("text_hidden_size"),
    codes,
    rows,
    codebooks,
    ids: readIds(config, talker, rows),
    ...readVoices(talker, rows),
    speakerEncoder,
    codec,
  };
}

function readKind(config: Fields): Qwen3TtsKind {
  const kind = config.text("tts_model_type");
  if (kind === "base" || kind === "custom_voice" || kind === "voice_design") return kind;
  throw new CheckpointError(
    `config.json: tts_model_type has to be base, custom_voice or voice_design; it is ${JSON.stringify(kind)}.`,
  );
}

function transformerSizes(config: Fields): TransformerSizes {
  config.expect("hidden_act", "silu");
  config.expect("attention_bias", false);
  config.expect("use_sliding_window", false);
  const heads = config.integer("num_attention_heads");
  const keyHeads = config.integer("num_key_value_heads");
  if (heads % keyHeads !== 0) {
    throw new CheckpointError(`config.json: ${heads} heads cannot share ${keyHeads} key and value heads.`);
  }
  return {
    width: config.integer("hidden_size"),
    layers: config.count("num_hidden_layers"),
    heads,
    keyHeads,
    headWidth: config.headWidth(HEAD_MULTIPLE),
    innerWidth: config.integer("intermediate_size"),
    epsilon: config.positive("rms_norm_eps"),
    // `rope_scaling` has sections for three dimensions, in which positions of text are equal.
    rotary: { theta: config.positive("rope_theta"), scaling: null },
    positions: config.positions("max_position_embeddings"),
    hasHeadNorms: true,
  };
}

type Ids = Readonly<ReturnType<typeof readIds>>;

function readIds(config: Fields, talker: Fields, rows: number) {
  const token = (name: string): number => config.integer(`${name}_token_id`, undefined, 0);
  const control = (name: string): number => readRow(talker, `codec_${name}`, rows);
  return {
    imStart: token("im_start"),
    imEnd: token("im_end"),
    textPad: token("tts_pad"),
    textBegin: token("tts_bos"),
    textEnd: token("tts_eos"),
    pad: control("pad_id"),
    begin: control("bos_id"),
    end: control("eos_token_id"),
    think: control("think_id"),
    noThink: control("nothink_id"),
    thinkBegin: control("think_bos_id"),
    thinkEnd: control("think_eos_id"),
  };
}

function readVoices(
  talker: Fields,
  rows: number,
): Pick<Qwen3TtsConfig, "languages" | "speakers" | "dialects"> {
  const rowsByName = (name: string): ReadonlyMap<string, number> => {
    if (!talker.has(name)) return new Map();
    const group = talker.group(name);
    return new Map(group.names.map((each) => [each.toLowerCase(), readRow(group, each, rows)]));
  };
  const languages = rowsByName("codec_language_id");
  const dialects = new Map<string, string>();
  const group = talker.has("spk_is_dialect") ? talker.group("spk_is_dialect") : null;
  for (const name of group?.names ?? []) {
    if (group!.is(name, false)) continue;
    const dialect = group!.text(name).toLowerCase();
    if (!languages.has(dialect)) {
      throw new CheckpointError(`config.json: codec_language_id lacks ${dialect}, the dialect of ${name}.`);
    }
    dialects.set(name.toLowerCase(), dialect);
  }
  return { languages, speakers: rowsByName("spk_id"), dialects };
}

function readRow(fields: Fields, name: string, rows: number): number {
  const row = fields.integer(name, undefined, 0);
  if (row < rows) return row;
  throw new CheckpointError(`config.json: ${name} is row ${row} of the talker's ${rows}.`);
}
