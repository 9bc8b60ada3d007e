// Answers 200 to everything over HTTP/2 and TLS by Node's own http2, and writes each request's path
// and the size of its body to a file.
//
// Usage: node node_server.mjs PORT CERTIFICATE_FILE KEY_FILE LOG_FILE
import { openSync, readFileSync, writeSync } from "node:fs";
import { createSecureServer } from "node:http2";

const [port, certificate, key, logFile] = process.argv.slice(2);
const log = openSync(logFile, "a");
const server = createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) });
server.on("stream", (stream, headers) => {
    let bytes = 0;
    stream.on("data", (part) => { bytes += part.length; });
    stream.on("end", () => {
        writeSync(log, `200 ${headers[":method"]} ${headers[":path"]} ${bytes > 2}\n`);
        stream.respond({ ":status": 200, "apns-id": "x" }, { endStream: true });
    });
    stream.on("error", () => {});
});
server.listen(Number(port), "127.0.0.1");
