// Runs the program beside the page, which stays responsive.

import { run } from "./wasi.mjs";

const response = await fetch("target/wasm32-wasip1/release/web.wasm");
if (!response.ok) {
  postMessage("web.wasm is missing: run `cargo build --release` in this folder");
} else {
  await run(await response.arrayBuffer(), (line) => postMessage(line));
}
