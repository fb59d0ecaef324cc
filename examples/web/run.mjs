// Runs a program by Node.js: node run.mjs FILE.wasm

import { readFile } from "node:fs/promises";
import { run } from "./wasi.mjs";

const start = performance.now();
const bytes = await readFile(process.argv[2]);
await run(bytes, console.log);
console.log(`${(bytes.length / 1e6).toFixed(1)} MB, ${Math.round(performance.now() - start)} ms`);
