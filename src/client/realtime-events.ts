/** A word of a reply as events tell it, from the first sample of its item. */
export interface WireWord {
  word: string;
  start_ms: number;
  end_ms: number;
  offset: number;
  length: number;
}

/** What of events is read here. */
export interface Hands {
  session(event: {
    session: { audio?: { input?: { turn_detection?: { interrupt_response?: boolean } | null } } };
  }): void;
  userBegan(event: { item_id: string }): void;
  userEnded(event: { item_id: string; audio_end_ms: number }): void;
  heard(event: { item_id: string; transcript: string }): void;
  notHeard(event: { item_id: string; error: { message: string } }): void;
  deleted(event: { item_id: string }): void;
  responseBegan(event: { response: { id: string } }): void;
  text(event: { item_id: string; delta: string }): void;
  sound(event: { item_id: string; delta: string; antiphon_words?: WireWord[] }): void;
  itemEnded(event: { item: { id: string; status?: string } }): void;
  textEnded(event: { item_id: string }): void;
  responseEnded(event: {
    response: { id: string; status: string; status_details?: { error?: { message?: string } } };
  }): void;
  error(event: { error: { code?: string; message: string } }): void;
}

/** Who takes which event. */
export const HANDS: Readonly<Record<string, keyof Hands>> = {
  "session.created": "session",
  "session.updated": "session",
  "input_audio_buffer.speech_started": "userBegan",
  "input_audio_buffer.speech_stopped": "userEnded",
  "conversation.item.input_audio_transcription.completed": "heard",
  "conversation.item.input_audio_transcription.failed": "notHeard",
  "conversation.item.deleted": "deleted",
  "response.created": "responseBegan",
  "response.output_audio_transcript.delta": "text",
  "response.output_text.delta": "text",
  "response.output_audio.delta": "sound",
  "response.output_item.done": "itemEnded",
  "response.output_text.done": "textEnded",
  "response.done": "responseEnded",
  error: "error",
};

/** The user's words are wanted, unless the session says how. */
export function withTranscription(session: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { audio = {}, ...others } = session as { audio?: { input?: object } };
  const input = { transcription: { model: "whisper-1" }, ...audio.input };
  return { ...others, audio: { ...audio, input } };
}
