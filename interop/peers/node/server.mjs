// Server peer: node server.mjs SDK_ALIAS [PORT]. One SDK Server per session, so
// that no state leaks between the clients that share this process.
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import http from "node:http";
import { loadServerSDK } from "./sdk.mjs";
import { buildServer } from "./server-features.mjs";

const [alias, port = "0"] = process.argv.slice(2);
const sdk = await loadServerSDK(alias);
const sessions = new Map();

function log(entry) {
  const path = process.env.PEER_LOG;
  if (path) appendFileSync(path, JSON.stringify(entry) + "\n");
}

async function readJSON(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

async function openSession(message) {
  const entry = { client: message.params?.clientInfo?.name ?? "" };
  entry.transport = new sdk.Transport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => {
      sessions.set(id, entry);
      log({
        method: "initialize", session: id, client: entry.client,
        version: message.params?.protocolVersion, capabilities: Object.keys(message.params?.capabilities ?? {}).sort(),
      });
    },
  });
  entry.transport.onclose = () => sessions.delete(entry.transport.sessionId);
  await buildServer(alias, sdk).connect(entry.transport);
  return entry.transport;
}

function logMessages(body, id, client, header) {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (message?.method) log({ method: message.method, session: id, client, header });
  }
}

async function handle(req, res) {
  const id = req.headers["mcp-session-id"];
  const session = sessions.get(id);
  const body = req.method === "POST" ? await readJSON(req) : undefined;
  if (body?.method === "initialize") {
    const transport = await openSession(body);
    return transport.handleRequest(req, res, body);
  }
  if (!session) {
    log({ method: body?.method ?? `http:${req.method}`, session: id ?? "", client: "", refused: true });
    res.writeHead(id ? 404 : 400).end();
    return;
  }
  if (body) logMessages(body, id, session.client, req.headers["mcp-protocol-version"]);
  else log({ method: `http:${req.method}`, session: id, client: session.client });
  return session.transport.handleRequest(req, res, body);
}

const server = http.createServer((req, res) => {
  handle(req, res).catch((error) => {
    log({ method: "peer:error", error: String(error) });
    if (!res.headersSent) res.writeHead(500).end();
  });
});
server.listen(Number(port), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
});

const stop = () => process.exit(0);
process.stdin.on("end", stop).resume();
process.on("SIGTERM", stop);
