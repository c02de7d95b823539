"""Serves an engine that ships no server of its own: POST /v1/audio/speech, raw PCM as the engine yields it.

usage: wrapper_server.py ENGINE PORT [FOLDER OF WEIGHTS]
"""
import queue
import subprocess
import sys
import threading

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

MODEL = "en_US-joe-medium.onnx"


def pcm(samples):
    return (np.clip(np.asarray(samples, dtype=np.float32), -1, 1) * 32767).astype("<i2").tobytes()


def hibari(_folder):
    from hibari import Hibari

    tts = Hibari()
    return lambda text: (pcm(chunk) for chunk in tts.stream(text))


def streaming_vits(folder):
    from streaming_vits.compat import Speaker

    # 2: calibrated with as many.
    speaker = Speaker(f"{folder}/{MODEL}", f"{folder}/tokens.txt", num_threads=2)
    speaker.warmup()

    def speak(text):
        for segment in speaker.split(text):
            for chunk in speaker.tts.stream(segment, 0, speaker._scales()):
                yield pcm(chunk.audio)

    return speak


def sherpa(folder):
    import sherpa_onnx

    vits = sherpa_onnx.OfflineTtsVitsModelConfig(
        model=f"{folder}/{MODEL}", lexicon="", tokens=f"{folder}/tokens.txt", data_dir=f"{folder}/espeak-ng-data"
    )
    model = sherpa_onnx.OfflineTtsModelConfig(vits=vits, num_threads=2)
    tts = sherpa_onnx.OfflineTts(sherpa_onnx.OfflineTtsConfig(model=model, max_num_sentences=1))

    def speak(text):
        chunks, left = queue.Queue(), threading.Event()

        def on_sentence(samples, _progress):
            chunks.put(pcm(samples))
            return 0 if left.is_set() else 1

        def generate():
            try:
                tts.generate(text, sid=0, speed=1.0, callback=on_sentence)
            finally:
                chunks.put(None)

        threading.Thread(target=generate, daemon=True).start()
        try:
            while (chunk := chunks.get()) is not None:
                yield chunk
        finally:
            left.set()

    return speak


def espeak(_folder):
    def speak(text):
        command = ["espeak-ng", "--stdin", "--stdout"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            try:
                program.stdin.write(text.encode())
                program.stdin.close()
                program.stdout.read(44)
                while chunk := program.stdout.read1(8192):
                    yield chunk
            finally:
                program.kill()

    return speak


engine, port, *folder = sys.argv[1:]
speak = {"hibari": hibari, "streaming-vits": streaming_vits, "sherpa": sherpa, "espeak": espeak}[engine](*folder or [""])
app = FastAPI()


@app.get("/health")
def health():
    return {}


@app.post("/v1/audio/speech")
async def speech(request: Request):
    try:
        text = (await request.json())["input"]
        if not text.strip():
            raise ValueError("The text is empty.")
    except Exception as error:
        return JSONResponse({"error": str(error)}, status_code=400)
    return StreamingResponse(speak(text), media_type="audio/pcm")


uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
