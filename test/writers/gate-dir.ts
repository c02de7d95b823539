import { fileURLToPath } from "node:url";

/** The gate that is shipped. */
export const GATE_DIR = fileURLToPath(new URL("../../../gate", import.meta.url));
