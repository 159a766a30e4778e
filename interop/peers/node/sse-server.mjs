// Server peer of the HTTP+SSE transport: node sse-server.mjs SDK_ALIAS [PORT].
// One SDK Server per event stream, as each stream is a session.
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

async function open(res) {
  const transport = new sdk.SSEServerTransport("/messages", res);
  const id = transport.sessionId;
  sessions.set(id, { transport, client: "" });
  const server = buildServer(alias, sdk);
  await server.connect(transport);
  const closed = transport.onclose; // set by connect, so it must be kept
  transport.onclose = () => {
    sessions.delete(id);
    closed?.call(transport);
  };
}

async function receive(req, res, id) {
  const session = sessions.get(id);
  const body = await readJSON(req);
  if (!session) {
    log({ method: body.method ?? "answer", session: id ?? "", client: "", refused: true });
    res.writeHead(id ? 404 : 400).end();
    return;
  }
  const entry = { method: body.method, session: id };
  if (body.method === "initialize") {
    session.client = body.params?.clientInfo?.name ?? "";
    entry.version = body.params?.protocolVersion;
    entry.capabilities = Object.keys(body.params?.capabilities ?? {}).sort();
  }
  if (body.method) log({ ...entry, client: session.client });
  await session.transport.handlePostMessage(req, res, body);
}

async function handle(req, res) {
  const { pathname, searchParams } = new URL(req.url, "http://peer");
  if (req.method === "GET" && pathname === "/sse") return open(res);
  if (req.method === "POST" && pathname === "/messages") return receive(req, res, searchParams.get("sessionId"));
  res.writeHead(pathname === "/sse" ? 405 : 404).end();
}

const server = http.createServer((req, res) => {
  handle(req, res).catch((error) => {
    log({ method: "peer:error", error: String(error) });
    if (!res.headersSent) res.writeHead(500).end();
  });
});
server.listen(Number(port), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/sse` }));
});

const stop = () => process.exit(0);
process.stdin.on("end", stop).resume();
process.on("SIGTERM", stop);
