import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { contentSecurityPolicy, serveFiles } from "../static-files.ts";

/** RapiDoc sets its styles inline, and its logo and arrows are pictures in them; it runs nothing that is inline. */
const HEADERS = {
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
    "connect-src": "'self'",
    "media-src": "blob:",
  }),
};

/** `GET /docs`: `/openapi.json` for people, who can try its calls there. */
export function apiDocsRoutes(app: FastifyInstance): void {
  serveFiles(app, { "/docs": file("index.html"), "/docs/rapidoc-min.js": file("rapidoc-min.js") }, HEADERS);
}

const file = (name: string) => fileURLToPath(new URL(`../../../../api-docs/${name}`, import.meta.url));
