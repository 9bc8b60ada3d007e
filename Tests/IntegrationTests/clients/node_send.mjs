// Sends a notification to each device token of a file by Node's own http2, over one session.
//
// Usage: node node_send.mjs URL CA_FILE KEY_FILE KEY_ID TEAM_ID TOPIC TOKENS_FILE
//
// Prints how many got which status, as JSON.
import { sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";

const [url, caFile, keyFile, kid, iss, topic, tokensFile] = process.argv.slice(2);

const part = (object) => Buffer.from(JSON.stringify(object)).toString("base64url");
const iat = Math.floor(Date.now() / 1000);
const claims = `${part({ alg: "ES256", kid })}.${part({ iss, iat })}`;
const key = { key: readFileSync(keyFile), dsaEncoding: "ieee-p1363" };
const authorization = `bearer ${claims}.${sign("sha256", claims, key).toString("base64url")}`;

const session = connect(url, { ca: readFileSync(caFile) });
const send = (token) =>
    new Promise((resolve, reject) => {
        const request = session.request({
            ":method": "POST", ":path": `/3/device/${token}`, authorization,
            "apns-topic": topic, "apns-push-type": "alert",
        });
        request.on("response", (headers) => resolve(headers[":status"])).on("error", reject);
        request.resume().end('{"aps":{"alert":"Hello from Node"}}');
    });

// Until APNs has seen a valid provider token, it allows one stream and refuses others; Node sends
// before it has read that limit. So the first request goes alone, as Apple asks.
const [first, ...others] = readFileSync(tokensFile, "utf8").trim().split("\n");
const answers = [await send(first), ...(await Promise.all(others.map(send)))];
session.close();

const statuses = {};
for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
console.log(JSON.stringify({ statuses }));
