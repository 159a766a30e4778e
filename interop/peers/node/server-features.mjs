// What the server peer offers. The low-level Server class is used because it is
// the one API that all the SDK versions share.
import { callTool, listTools } from "./server-tools.mjs";

const people = ["Ada", "Alan", "Grace"];

// newState is everything a session has to remember; waiters wake the tools that wait.
export const newState = () => ({
  cancelled: 0, slowStarted: 0, released: false, extraTools: [], subscriptions: new Set(), waiters: [],
});

export function buildServer(alias, { Server, types, features }, state = newState()) {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new Server({ name: `peer-${alias}`, version: "1.0.0" }, { capabilities });
  const ctx = { server, types, features, state };
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: listTools(ctx) }));
  server.setRequestHandler(types.CallToolRequestSchema, (request, extra) => callTool(ctx, request, extra));
  server.setRequestHandler(types.SetLevelRequestSchema, () => ({}));
  addResources(ctx);
  addPrompts(ctx);
  return server;
}

function addResources({ server, types, state }) {
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({
    resources: [{ uri: "demo://a", name: "a", mimeType: "text/plain" }],
  }));
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "demo://item/{id}", name: "item" }],
  }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
    const text = resourceText(uri);
    if (text === undefined) throw new types.McpError(-32002, "Resource not found", { uri });
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  });
  server.setRequestHandler(types.SubscribeRequestSchema, ({ params: { uri } }) => {
    state.subscriptions.add(uri);
    return {};
  });
  server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params: { uri } }) => {
    state.subscriptions.delete(uri);
    return {};
  });
}

function resourceText(uri) {
  if (uri === "demo://a") return "text of a";
  const item = /^demo:\/\/item\/(\w+)$/.exec(uri);
  return item ? `item ${item[1]}` : undefined;
}

function addPrompts({ server, types }) {
  server.setRequestHandler(types.ListPromptsRequestSchema, () => ({
    prompts: [{ name: "greet", description: "Greets somebody", arguments: [{ name: "name", required: true }] }],
  }));
  server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => {
    if (params.name !== "greet") throw new types.McpError(-32602, `unknown prompt ${params.name}`);
    const text = `Hello, ${params.arguments?.name}`;
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  });
  server.setRequestHandler(types.CompleteRequestSchema, ({ params: { argument } }) => {
    const values = people.filter((name) => name.startsWith(argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
