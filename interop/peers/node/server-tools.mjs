// The tools of the server peer. Requests to the client go two ways on purpose:
// `ask` and `roots` are unrelated to the call and so travel on the GET stream,
// `ask-raw` and `sample` are related to it and travel in the POST's own stream.

import { randomUUID } from "node:crypto";

const object = (properties = {}) => ({ type: "object", properties });
const text = (value) => ({ content: [{ type: "text", text: value }] });
const failure = (value) => ({ ...text(value), isError: true });
const tinyWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const askParams = {
  message: "Who are you?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};
// How long a tool waits for another call of its client; shorter where that may be
// served by another process.
const patience = Number(process.env.PEER_PATIENCE ?? 2_000);
const urlParams = (message) => ({ mode: "url", message, url: "https://example.com/consent", elicitationId: randomUUID() });

export function listTools({ features, state }) {
  const plain = Object.keys(handlers).filter((name) => available(name, features));
  const tools = plain.map((name) => ({ name, description: `peer tool ${name}`, inputSchema: inputs[name] ?? object() }));
  if (features.structured) {
    tools.find((tool) => tool.name === "structured").outputSchema = {
      type: "object",
      properties: { answer: { type: "number" }, label: { type: "string" } },
      required: ["answer", "label"],
    };
  }
  return tools.concat(state.extraTools.map((name) => ({ name, inputSchema: object() })));
}

export async function callTool(ctx, request, extra) {
  const { name, arguments: args = {} } = request.params;
  if (ctx.state.extraTools.includes(name)) return text(`tool ${name}`);
  const handler = available(name, ctx.features) ? handlers[name] : undefined;
  if (!handler) throw new ctx.types.McpError(-32602, `Unknown tool: ${name}`);
  try {
    return await handler({ ...ctx, args, extra, meta: request.params._meta });
  } catch (error) {
    return failure(`${name} failed: ${error.message}`);
  }
}

function available(name, features) {
  if (name.startsWith("ask-url")) return features.url;
  if (name.startsWith("ask")) return features.elicitation;
  return Object.hasOwn(handlers, name);
}

const inputs = {
  echo: object({ value: { type: "string" } }),
  bigint: object({ digits: { type: "string" }, n: { type: "number" } }),
};

const handlers = {
  echo: ({ args }) => text(`echo ${args.value}`),
  structured: ({ features }) => {
    const answer = { answer: 42, label: "x" };
    return features.structured ? { content: [], structuredContent: answer } : text(JSON.stringify(answer));
  },
  bigint: ({ args }) => text(`digits=${args.digits} n=${args.n}`),
  ask: async ({ server }) => answerText(await server.elicitInput(askParams)),
  "ask-decline": async ({ server }) => answerText(await server.elicitInput({ ...askParams, message: "Decline this" })),
  "ask-cancel": async ({ server }) => answerText(await server.elicitInput({ ...askParams, message: "Cancel this" })),
  "ask-url": async ({ server }) => urlText(await server.elicitInput(urlParams("Please visit this"))),
  "ask-url-decline": async ({ server }) => urlText(await server.elicitInput(urlParams("Decline this"))),
  "ask-url-cancel": async ({ server }) => urlText(await server.elicitInput(urlParams("Cancel this"))),
  "ask-raw": async ({ server, types, extra }) => {
    const request = { method: "elicitation/create", params: askParams };
    return answerText(await server.request(request, types.ElicitResultSchema, { relatedRequestId: extra.requestId }));
  },
  sample: async ({ server, types, extra }) => {
    const params = { messages: [{ role: "user", content: { type: "text", text: "say hi" } }], maxTokens: 10 };
    const request = { method: "sampling/createMessage", params };
    const result = await server.request(request, types.CreateMessageResultSchema, { relatedRequestId: extra.requestId });
    const block = Array.isArray(result.content) ? result.content[0] : result.content;
    return text(`model: ${block.text}`);
  },
  roots: async ({ server }) => {
    const { roots } = await server.listRoots();
    return text(`roots: ${roots.map((root) => root.uri).join(",")}`);
  },
  progress: async ({ server, extra, meta, state }) => {
    const progressToken = meta?.progressToken;
    for (let progress = 1; progressToken !== undefined && progress <= 3; progress++) {
      await notify(server, extra, { method: "notifications/progress", params: { progressToken, progress, total: 3 } });
    }
    return released(state, "progressed");
  },
  release: ({ state }) => {
    state.released = true;
    wake(state);
    return text("released");
  },
  slow: ({ state, extra }) => slow(state, extra.signal),
  "wait-slow": async ({ state }) => {
    await until(state, () => state.slowStarted > 0);
    return text("slow is running");
  },
  "cancelled-count": async ({ state }) => {
    await until(state, () => state.cancelled > 0);
    return text(String(state.cancelled));
  },
  links: ({ features }) => {
    const content = [{ type: "text", text: "see these" }];
    if (features.resourceLink) content.push({ type: "resource_link", uri: "demo://a", name: "a" });
    if (features.audio) content.push({ type: "audio", data: tinyWav, mimeType: "audio/wav" });
    return { content };
  },
  log: async ({ server, extra, state }) => {
    const params = { level: "info", logger: "peer", data: "logged by the peer" };
    await notify(server, extra, { method: "notifications/message", params });
    return released(state, "logged");
  },
  touch: async ({ server, state }) => {
    if (state.subscriptions.has("demo://a")) await server.sendResourceUpdated({ uri: "demo://a" });
    return released(state, "touched");
  },
  "add-tool": async ({ server, state }) => {
    state.extraTools.push(`added-${state.extraTools.length + 1}`);
    await server.sendToolListChanged();
    return released(state, "added");
  },
};

// notify sends what belongs to the call; the oldest SDK has only the session's way.
function notify(server, extra, notification) {
  return extra.sendNotification ? extra.sendNotification(notification) : server.notification(notification);
}

function slow(state, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(text("never cancelled")), 10_000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      state.cancelled++;
      wake(state);
      resolve(text("cancelled"));
    }, { once: true });
    state.slowStarted++;
    wake(state);
  });
}

function wake(state) {
  for (const check of [...state.waiters]) check();
}

// Resolves once the condition holds, or after a while in any case: the
// tool's answer then tells the client that it did not come true.
function until(state, condition) {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      state.waiters = state.waiters.filter((waiter) => waiter !== check);
      resolve();
    };
    const check = () => condition() && finish();
    const timer = setTimeout(finish, patience);
    state.waiters.push(check);
    check();
  });
}

// Holds a tool's result back until the client has seen the notification, which
// it says with the tool release: a proxy must deliver it while the call runs.
async function released(state, value) {
  await until(state, () => state.released);
  state.released = false;
  return text(value);
}

function answerText(result) {
  return text(result.action === "accept" ? `hello ${result.content?.name}` : `no answer: ${result.action}`);
}

function urlText({ action }) {
  return text(`url: ${action}`);
}
