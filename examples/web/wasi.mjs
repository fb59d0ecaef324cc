// The few functions of the system that a program needs which only computes and prints: WASI preview 1 without files.

const SUCCESS = 0, BAD_DESCRIPTOR = 8, UNSUPPORTED = 52;

class Exit extends Error {}

/// Runs the program in `bytes`, and calls `print` with each line that it prints.
export async function run(bytes, print) {
  const module = await WebAssembly.compile(bytes);
  let memory;
  const view = () => new DataView(memory.buffer);
  const decoder = new TextDecoder();
  let line = "";
  const system = {
    fd_write(_descriptor, parts, count, written) {
      let size = 0;
      for (let i = 0; i < count; i++) {
        const at = view().getUint32(parts + 8 * i, true);
        const length = view().getUint32(parts + 8 * i + 4, true);
        line += decoder.decode(new Uint8Array(memory.buffer, at, length), { stream: true });
        size += length;
      }
      const lines = line.split("\n");
      line = lines.pop();
      for (const whole of lines) print(whole);
      view().setUint32(written, size, true);
      return SUCCESS;
    },
    clock_time_get(clock, _precision, out) {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(out, BigInt(Math.round(milliseconds * 1e6)), true);
      return SUCCESS;
    },
    random_get(at, length) {
      crypto.getRandomValues(new Uint8Array(memory.buffer, at, length));
      return SUCCESS;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    // There is no directory.
    fd_prestat_get: () => BAD_DESCRIPTOR,
    proc_exit(code) {
      throw new Exit(`the program ended with ${code}`);
    },
  };
  system.args_sizes_get = system.environ_sizes_get;
  system.args_get = system.environ_get;
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = system[name] ?? (() => UNSUPPORTED);
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  memory = exports.memory;
  exports._start();
}
