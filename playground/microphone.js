// The browser's microphone, or the reason why it is not available.

const ECHO = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

const WHY = {
  NotAllowedError:
    "The browser blocks the microphone. Allow it with the icon next to the address, then press Talk again.",
  NotFoundError: "No microphone was found. Plug one in, then press Talk again.",
  NotReadableError: "Another program uses the microphone. Close it, then press Talk again.",
};

/** Returns why this page can have no microphone and what to do; empty if it can. */
export function whyNoMicrophone() {
  if (!isSecureContext) {
    const here = `${location.protocol}//localhost${location.port ? `:${location.port}` : ""}`;
    return `The browser blocks the microphone because this page came over plain http. Open it over https, or as ${here} on the server's own machine.`;
  }
  const canListen = navigator.mediaDevices && globalThis.AudioWorkletNode;
  return canListen ? "" : "This browser has no microphone support. Try another browser.";
}

/**
 * Opens the microphone and calls `onPcm` with 20 ms of 16-bit samples at 24 kHz. `onEnd` is called if it is unplugged.
 * `signal` closes it or cancels the request. Throws an error that says what is missing and what to do.
 */
export async function openMicrophone(onPcm, onEnd, signal) {
  const why = whyNoMicrophone();
  if (why) throw new Error(why);
  const stream = await navigator.mediaDevices.getUserMedia({ audio: ECHO }).catch((error) => {
    throw new Error(WHY[error.name] ?? `The microphone is not available: ${error.message}.`);
  });
  const context = new AudioContext({ latencyHint: "interactive" });
  const close = () => {
    for (const track of stream.getTracks()) track.stop();
    if (context.state !== "closed") void context.close();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    signal.throwIfAborted();
    await context.audioWorklet.addModule("/playground/microphone-worklet.js");
    signal.throwIfAborted();
    const node = new AudioWorkletNode(context, "microphone", { outputChannelCount: [1] });
    node.port.onmessage = ({ data }) => signal.aborted || onPcm(data);
    // Browsers run only nodes that lead to the loudspeakers. Its output is silence.
    context.createMediaStreamSource(stream).connect(node).connect(context.destination);
    await context.resume();
    signal.throwIfAborted();
  } catch (error) {
    close();
    throw error;
  }
  stream.getAudioTracks()[0].onended = onEnd;
}
