// node trace_processor.js WEB_DIST < requests > answers: Perfetto's trace processor, as its page runs it in a worker.
// Both are TraceProcessorRpcStream messages. WEB_DIST holds engine_bundle.js and its WebAssembly.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const directory = process.argv[2];
const read = (url) => fs.readFileSync(path.join(directory, path.basename(String(url))));

// What a worker of a page has and node has not, as far as the engine asks for it.
process.type = "renderer"; // else it takes this for node, which it was not built for
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: "http://localhost/engine_bundle.js" };
globalThis.XMLHttpRequest = class {
  open(_method, url) {
    this.url = url;
  }
  send() {
    const content = read(this.url);
    this.response = content.buffer.slice(content.byteOffset, content.byteOffset + content.length);
    this.status = 200;
  }
};

const answers = [];
const port = { postMessage: (answer) => answers.push(Buffer.from(answer)) };
vm.runInThisContext(read("engine_bundle.js").toString());
globalThis.onmessage({ data: port });
// The engine is loaded by now, for its requests of files are answered at once; what it does then waits as a microtask.
setTimeout(() => {
  port.onmessage({ data: new Uint8Array(fs.readFileSync(0)) });
  fs.writeFileSync(1, Buffer.concat(answers));
});
