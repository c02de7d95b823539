// Reads, records and transcribes sounds. Loaded with the first turn that has one.
import { encodeWav, toBase64 } from "./client/antiphon.js";
import { SAMPLE_RATE_HZ } from "./client/player.js";
import { ClipTranscriber, NOTES } from "./clip-transcriber.js";

/** Opens the functions for sounds; see `ClipTranscriber` for the parameters. */
export const openSound = (ask, onChange) => ({
  transcriber: new ClipTranscriber(ask, onChange),
  NOTES,
  decode,
  record,
});

/** Decodes a file to one channel at the server's rate. Throws if the browser cannot read it. */
async function decode(blob) {
  const sound = await new OfflineAudioContext(1, 1, SAMPLE_RATE_HZ).decodeAudioData(await blob.arrayBuffer());
  const channels = Array.from({ length: sound.numberOfChannels }, (_, i) => sound.getChannelData(i));
  const mean = (at) => channels.reduce((sum, channel) => sum + channel[at], 0) / channels.length;
  const pcm = Int16Array.from(channels[0], (_, at) => 32_767 * Math.max(-1, Math.min(1, mean(at))));
  const wav = encodeWav([pcm]);
  return { name: blob.name ?? "recording.wav", durationS: sound.duration, wav, base64: toBase64(wav) };
}

let recorder = null;

/** Begins a recording that `onDone` receives, or ends the current one. Returns whether it began one. */
async function record(onDone) {
  if (recorder !== null) {
    recorder.stop();
    return false;
  }
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const pieces = [];
  recorder = new MediaRecorder(microphone);
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  recorder.onstop = () => {
    recorder = null;
    for (const track of microphone.getTracks()) track.stop();
    onDone(new Blob(pieces));
  };
  recorder.start();
  return true;
}
