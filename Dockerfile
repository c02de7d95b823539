# syntax=docker/dockerfile:1
# docker build -t antiphon .
# The program as `npm run pack` makes it, on a base that has Node, glibc and no shell.
ARG RUNTIME=gcr.io/distroless/nodejs22-debian12:nonroot

FROM node:22-bookworm-slim AS build
ARG TARGETARCH
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY scripts/onnxruntime.mjs scripts/
RUN npm ci
COPY . .
RUN case "${TARGETARCH:-$(uname -m)}" in amd64 | x86_64) cpu=x64 ;; *) cpu=arm64 ;; esac && \
    npm run pack -- --platform "linux-$cpu" /packed && \
    npm install --global --prefix /antiphon /packed/antiphon-*.tgz && \
    mkdir -p /empty/data
# Weights to carry in the image, as in --build-arg MODELS=recogniser. Without it a server fetches them at its start.
ARG MODELS=""
RUN for model in $MODELS; do /antiphon/bin/antiphon models pull "$model" --data-dir /empty/data || exit 1; done

FROM ${RUNTIME}
COPY --from=build /antiphon/lib/node_modules/antiphon /antiphon
# A volume that is made for this folder belongs to the user that runs the program.
COPY --from=build --chown=65532:65532 /empty/data /data
ENV NODE_ENV=production ANTIPHON_HOST=0.0.0.0 ANTIPHON_DATA_DIR=/data
# As in npm start: glibc returns freed memory to the system (docs/production.md).
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 MALLOC_TRIM_THRESHOLD_=1048576
USER 65532:65532
WORKDIR /antiphon
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["/nodejs/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.ANTIPHON_PORT || 8080}/ready`).then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Limits the heap of the main thread; docs/production.md has the memory budget.
ENTRYPOINT ["/nodejs/bin/node", "--max-old-space-size=384", "/antiphon/dist/src/cli/main.js"]
CMD ["serve"]
