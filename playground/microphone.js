// The browser's microphone, or why there is none.

const ECHO = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

const WHY = {
  NotAllowedError:
    "The browser does not let this page use the microphone. Allow it with the icon beside the address, then press Talk again.",
  NotFoundError: "No microphone was found. Plug one in, then press Talk again.",
  NotReadableError: "Another program holds the microphone. Close that, then press Talk again.",
};

/** Why no microphone can be had here, whatever is plugged in, and what to do; empty where one may be. */
export function whyNoMicrophone() {
  if (!isSecureContext) {
    const here = `${location.protocol}//localhost${location.port ? `:${location.port}` : ""}`;
    return `Browsers lend a microphone to no page that came over plain http from another machine. Open this page over https, or as ${here} on the machine that serves it.`;
  }
  const canListen = navigator.mediaDevices && globalThis.AudioWorkletNode;
  return canListen ? "" : "This browser lends pages no microphone. Another one may.";
}

/**
 * Opens it, and calls `onPcm` with what it hears: 16-bit samples at 24 kHz, 20 ms of them. `onEnd` is called if it is
 * unplugged. `signal` closes it, whether it is open by then or is still asked for. Throws an error that says what is
 * missing and what to do.
 */
export async function openMicrophone(onPcm, onEnd, signal) {
  const why = whyNoMicrophone();
  if (why) throw new Error(why);
  const stream = await navigator.mediaDevices.getUserMedia({ audio: ECHO }).catch((error) => {
    throw new Error(WHY[error.name] ?? `The microphone cannot be used: ${error.message}.`);
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
    // It gives silence; browsers run what leads to the loudspeakers alone.
    context.createMediaStreamSource(stream).connect(node).connect(context.destination);
    await context.resume();
    signal.throwIfAborted();
  } catch (error) {
    close();
    throw error;
  }
  stream.getAudioTracks()[0].onended = onEnd;
}
