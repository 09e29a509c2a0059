// SPDX-License-Identifier: MIT
// Node's fetch doing GETs, N at a time: what a program on Node gets without a package.
//
//     node node-fetch.mjs [get|full [1.2|1.3 CAFILE]] HOST PORT PATH CONNECTIONS REQUESTS
//
// Prints the JSON object that the benchmarks read. Before the clock starts a round of requests makes the connections, and
// thousands more let the compiler see what is hot. CAFILE takes effect through NODE_EXTRA_CA_CERTS, which has to be set already.
import { readFileSync } from "node:fs";
import tls from "node:tls";

const given = process.argv.slice(2);
const terms = given.slice(0, -5);
const [host, port, path, connectionsText, requestsText] = given.slice(-5);
if (![0, 1, 3].includes(terms.length) || requestsText === undefined) {
    console.error("node-fetch.mjs [get|full [1.2|1.3 CAFILE]] HOST PORT PATH CONNECTIONS REQUESTS");
    process.exit(2);
}
const connections = Number(connectionsText);
const requests = Number(requestsText);
const isSecure = terms.length === 3;
if (isSecure) tls.DEFAULT_MIN_VERSION = tls.DEFAULT_MAX_VERSION = `TLSv${terms[1]}`;
const url = `${isSecure ? "https" : "http"}://${host}:${port}${path}`;
const options = terms[0] === "full" ? { headers: { connection: "close" } } : {};

async function run(count) {
    let left = count;
    let bytes = 0;
    async function lane() {
        while (left > 0) {
            left -= 1;
            const response = await fetch(url, options);
            if (response.status !== 200) throw new Error(`status ${response.status}`);
            bytes += (await response.arrayBuffer()).byteLength;
        }
    }
    await Promise.all(Array.from({ length: Math.min(connections, count) }, lane));
    return bytes;
}

function processorTime() {
    const { user, system } = process.cpuUsage();
    return (user + system) * 1000;
}

let first = process.hrtime.bigint();
await run(connections);
first = process.hrtime.bigint() - first;
await run(Math.max(connections, Math.min(requests, 20000)));
const cpu = processorTime();
const wall = process.hrtime.bigint();
const bytes = await run(requests);
const took = Number(process.hrtime.bigint() - wall);
const spent = processorTime() - cpu;
const resident = Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0);
const cost = { requests, bytes, wall: took, cpu: spent, resident };
if (connections === 1) cost.first = Number(first);
console.log(JSON.stringify(cost));
process.exit(0);
