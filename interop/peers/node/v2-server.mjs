// Server peer of the SDK's second generation: node v2-server.mjs modern|dual [PORT].
// It speaks the stateless revision; "dual" also serves handshake clients, without
// sessions. What one client does is remembered under the name it introduces itself
// with, so that no state leaks between the clients that share this process.
import { appendFileSync } from "node:fs";
import http from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { CLIENT_INFO_META_KEY, createMcpHandler, inputRequired, ProtocolError, Server } from "@modelcontextprotocol/server";
import { buildServer, newState } from "./server-features.mjs";

const [posture = "modern", port = "0"] = process.argv.slice(2);
const features = { elicitation: true, audio: true, resourceLink: true, structured: true };

// The shared features name requests by their schemas; this generation uses the methods.
const methods = {
  ListToolsRequestSchema: "tools/list", CallToolRequestSchema: "tools/call",
  ListResourcesRequestSchema: "resources/list", ListResourceTemplatesRequestSchema: "resources/templates/list",
  ReadResourceRequestSchema: "resources/read", ListPromptsRequestSchema: "prompts/list",
  GetPromptRequestSchema: "prompts/get", CompleteRequestSchema: "completion/complete",
};
const types = { ...methods, McpError: ProtocolError };

// Features adapts the Server class: what a tool asks the client for becomes an
// input_required result, and the retried call finds the answer.
class Features {
  constructor(info, options) {
    this.server = new Server(info, options);
  }

  setRequestHandler(method, handler) {
    if (method) this.server.setRequestHandler(method, (request, ctx) => this.handle(handler, request, ctx));
  }

  async handle(handler, request, ctx) {
    this.needed = undefined;
    this.answers = ctx.mcpReq.inputResponses ?? {};
    const extra = {
      requestId: ctx.mcpReq.id, signal: ctx.mcpReq.signal,
      sendNotification: (notification) => notify(ctx, notification),
    };
    const result = await handler(request, extra);
    return this.needed ? inputRequired({ inputRequests: this.needed, requestState: "round two" }) : result;
  }

  ask(method, params) {
    if (this.answers.answer) return this.answers.answer;
    this.needed = { answer: params ? { method, params } : { method } };
    throw new Error("the client has to be asked first");
  }

  elicitInput = async (params) => this.ask("elicitation/create", { mode: "form", ...params });
  listRoots = async () => this.ask("roots/list");
  request = async ({ method, params }) => this.ask(method, params);
  sendResourceUpdated = async ({ uri }) => this.notifier.resourceUpdated(uri);
  sendToolListChanged = async () => this.notifier.toolsChanged();
}

function notify(ctx, { method, params }) {
  if (method === "notifications/message") return ctx.mcpReq.log(params.level, params.data, params.logger);
  return ctx.mcpReq.notify({ method, params });
}

const clients = new Map();

function handlerOf(client) {
  if (!clients.has(client)) {
    const state = newState();
    // Whoever listens is told by the SDK; the tool need not check who does.
    state.subscriptions.add("demo://a");
    const handler = createMcpHandler(() => {
      const built = buildServer("v2", { Server: Features, types, features }, state);
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
