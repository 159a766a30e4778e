// Server peer of the SDK's second generation: node v2-server.mjs modern|dual [PORT].
// It speaks the stateless revision; "dual" also serves handshake clients, without
// sessions. What one client does is remembered under the name it introduces itself
// with, so that no state leaks between the clients that share this process.
import { appendFileSync } from "node:fs";
import http from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { CLIENT_INFO_META_KEY, createMcpHandler } from "@modelcontextprotocol/server";
import { newState } from "./server-features.mjs";
import { buildV2 } from "./v2-features.mjs";

const [posture = "modern", port = "0"] = process.argv.slice(2);
const clients = new Map();

function handlerOf(client) {
  if (!clients.has(client)) {
    const state = newState();
    // Whoever listens is told by the SDK; the tool need not check who does.
    state.subscriptions.add("demo://a");
    const handler = createMcpHandler(() => {
      const built = buildV2(state);
      built.notifier = handler.notify;
      return built.server;
    }, { legacy: posture === "dual" ? "stateless" : "reject" });
    clients.set(client, toNodeHandler(handler));
  }
  return clients.get(client);
}

function log(entry) {
  const path = process.env.PEER_LOG;
  if (path) appendFileSync(path, JSON.stringify(entry) + "\n");
}

async function readJSON(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

async function handle(req, res) {
  const body = req.method === "POST" ? await readJSON(req) : undefined;
  const info = body?.params?._meta?.[CLIENT_INFO_META_KEY] ?? body?.params?.clientInfo;
  const client = info?.name ?? "";
  if (!body) log({ method: `http:${req.method}`, client });
  else if (body.method) log({ method: body.method, client, header: req.headers["mcp-protocol-version"] });
  await handlerOf(client)(req, res, body);
}

const server = http.createServer((req, res) => {
  handle(req, res).catch((error) => {
    log({ method: "peer:error", client: "", error: String(error) });
    if (!res.headersSent) res.writeHead(500).end();
  });
});
server.listen(Number(port), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
});

const stop = () => process.exit(0);
process.stdin.on("end", stop).resume();
process.on("SIGTERM", stop);
