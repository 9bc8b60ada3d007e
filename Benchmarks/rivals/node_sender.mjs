// Sends a notification to each device token of a file by Node's own http2: one session for each
// connection, so many streams in flight on each, the same text to everybody.
//
// Usage: node node_sender.mjs URL CA_FILE TOKENS_FILE COUNT CONNECTIONS STREAMS HEADERS_FILE BODY_FILE
import { readFileSync } from "node:fs";
import { connect } from "node:http2";

const [url, ca, tokensFile, count, connections, streams, headersFile, bodyFile] = process.argv.slice(2);
const tokens = readFileSync(tokensFile, "utf8").trim().split("\n").slice(0, Number(count));
const headers = JSON.parse(readFileSync(headersFile, "utf8"));
const body = readFileSync(bodyFile);
const statuses = {};
let next = 0;

const send = (session, token) =>
    new Promise((resolve, reject) => {
        const request = session.request({ ":method": "POST", ":path": `/3/device/${token}`, ...headers });
        request.on("response", ({ ":status": status }) => (statuses[status] = (statuses[status] ?? 0) + 1));
        request.on("close", resolve).on("error", reject).resume().end(body);
    });

const sessions = Array.from({ length: Number(connections) }, () => connect(url, { ca: readFileSync(ca) }));
// Until APNs has seen a valid provider token, it allows one stream: so the first request goes alone.
for (const session of sessions) await send(session, tokens[next++]);
await Promise.all(sessions.flatMap((session) => Array.from({ length: Number(streams) }, async () => {
    while (next < tokens.length) await send(session, tokens[next++]);
})));
for (const session of sessions) session.close();
console.log(JSON.stringify(statuses));
