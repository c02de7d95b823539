"""Serves a GGUF file with llama.cpp's own HTTP server, as the package xllamacpp carries it.

usage: python llama_server.py MODEL.gguf API_KEY

Prints one line with its address once it listens, and goes when its standard input ends.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.api_keys = [sys.argv[2]]
# Two replies at once, each of 2048 tokens: little enough that a long history is refused.
params.n_parallel = 2
params.n_ctx = 4096
params.cpuparams.n_threads = 1

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
