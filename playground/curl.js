/**
 * A curl command that sends `body`. Audio is named, not pasted: `fileNames` has the name for each turn that has some,
 * and the shell reads the file through a here-document, since an argument may not be as long as a recording.
 */
export function curlFor(url, body, fileNames) {
  const start = `curl -sN ${url} \\\n  -H "Authorization: Bearer $ANTIPHON_KEY" -H 'Content-Type: application/json' \\\n`;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  if (!body.conversation.some((turn) => turn.audio_wav_b64)) {
    return `${start}  -d ${quoted(JSON.stringify(body, null, 1))}`;
  }
  const stub = (name, value) => (name === "audio_wav_b64" ? "" : value);
  const json = JSON.stringify(body, stub, 1).replace(/[\\$`]/g, "\\$&");
  const names = fileNames.filter((_, index) => body.conversation[index].audio_wav_b64);
  const read = () => `"audio_wav_b64": "$(base64 < ${quoted(names.shift())} | tr -d '\\n')"`;
  return `${start}  --data-binary @- <<JSON\n${json.replace(/"audio_wav_b64": ""/g, read)}\nJSON`;
}
