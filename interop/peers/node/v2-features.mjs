// What the server peers of the SDK's second generation have in common.
import { AsyncLocalStorage } from "node:async_hooks";
import { inputRequired, ProtocolError, Server } from "@modelcontextprotocol/server";
import { buildServer } from "./server-features.mjs";

const features = { elicitation: true, url: true, audio: true, resourceLink: true, structured: true };

// The shared features name requests by their schemas; this generation uses the methods.
const methods = {
  ListToolsRequestSchema: "tools/list", CallToolRequestSchema: "tools/call",
  ListResourcesRequestSchema: "resources/list", ListResourceTemplatesRequestSchema: "resources/templates/list",
  ReadResourceRequestSchema: "resources/read", ListPromptsRequestSchema: "prompts/list",
  GetPromptRequestSchema: "prompts/get", CompleteRequestSchema: "completion/complete",
};
// A server with sessions has these as well.
const sessionMethods = { SubscribeRequestSchema: "resources/subscribe", UnsubscribeRequestSchema: "resources/unsubscribe" };

// buildV2 builds a server for either kind of conversation; its notifier is the caller's.
export function buildV2(state, sessions = false) {
  const types = { ...methods, ...(sessions ? sessionMethods : {}), McpError: ProtocolError };
  return buildServer("v2", { Server: Features, types, features }, state);
}

// The request that is being handled, of which a server with one pipe has several.
const handled = new AsyncLocalStorage();

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
    const current = { answers: ctx.mcpReq.inputResponses ?? {} };
    const extra = {
      requestId: ctx.mcpReq.id, signal: ctx.mcpReq.signal,
      sendNotification: (notification) => notify(ctx, notification),
    };
    const result = await handled.run(current, () => handler(request, extra));
    return current.needed ? inputRequired({ inputRequests: current.needed, requestState: "round two" }) : result;
  }

  ask(method, params) {
    const current = handled.getStore();
    if (current.answers.answer) return current.answers.answer;
    current.needed = { answer: params ? { method, params } : { method } };
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
