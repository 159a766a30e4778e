// One connected client of the SDK's second generation, made to look like the first
// generation's to the shared steps. It sends a credential of its own: that is what
// lets a bridge keep the requests of one stateless client together.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answer, Inbox, spawned } from "./client-session.mjs";

const logLevelKey = "io.modelcontextprotocol/logLevel";
const missingCapability = -32021;
const features = { elicitation: true, url: true, audio: true, resourceLink: true, structured: true };

// Tools that need the server to know the client again.
const remembering = ["progress", "slow", "wait-slow", "log", "touch", "add-tool"];

// loadV2 reads what follows "v2-" in the alias: "auto" or a version, and perhaps
// "-anonymous", which sends no credential and so is a stranger in each request.
export function loadV2(alias) {
  const mode = alias.replace("-anonymous", "");
  return { mode, anonymous: mode !== alias, features, types: {} };
}

export async function connect(sdk, target) {
  const declared = target.caps === "full" ? { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } } : {};
  const mode = sdk.mode === "auto" ? "auto" : { pin: sdk.mode };
  const inbox = new Inbox();
  const changed = (method) => ({ autoRefresh: false, debounceMs: 0, onChanged: () => inbox.add({ method }) });
  const client = new Client({ name: target.label, version: "1.0.0" }, {
    capabilities: declared,
    versionNegotiation: { mode },
    listChanged: { tools: changed("notifications/tools/list_changed") },
  });
  addHandlers(client, declared);
  client.fallbackNotificationHandler = async (notification) => inbox.add(notification);
  const transport = target.command ? spawned({ StdioClientTransport }, target) : overHTTP(sdk, target);
  await client.connect(transport);
  const negotiated = client.getNegotiatedProtocolVersion();
  return {
    client: new Adapter(client, negotiated >= "2026-07-28", sdk.anonymous), sdk, declared, inbox, negotiated, transport,
    close: async () => {
      await transport.terminateSession?.();
      await client.close();
    },
  };
}

function overHTTP(sdk, target) {
  const authorization = `Bearer ${Buffer.from(target.label).toString("base64url")}`;
  const headers = sdk.anonymous ? {} : { authorization };
  return new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } });
}

function addHandlers(client, declared) {
  if (declared.elicitation) {
    client.setRequestHandler("elicitation/create", answer);
  }
  if (declared.sampling) {
    client.setRequestHandler("sampling/createMessage", () => ({
      model: "peer-model", role: "assistant", content: { type: "text", text: "hi" },
    }));
  }
  if (declared.roots) {
    client.setRequestHandler("roots/list", () => ({
      roots: [{ uri: "file:///srv/one", name: "one" }, { uri: "file:///srv/two" }],
    }));
  }
}

// Adapter gives the calls of the first generation, in the way that the negotiated
// revision has for each.
class Adapter {
  constructor(client, stateless, anonymous) {
    Object.assign(this, { client, stateless, anonymous });
    const same = ["listTools", "listResources", "listResourceTemplates", "readResource", "listPrompts", "getPrompt", "complete"];
    for (const name of same) this[name] = (...args) => client[name](...args);
  }

  async ping() {
    if (this.stateless) throw new Error("unsupported by client");
    await this.client.ping();
  }

  async callTool(params, _schema, options) {
    if (this.anonymous && remembering.includes(params.name)) throw new Error("unsupported by client");
    if (this.level) params = { ...params, _meta: { [logLevelKey]: this.level } };
    return this.client.callTool(params, options).catch((error) => {
      if (error.code !== missingCapability) throw error;
      // So ends a call that needs what the client did not declare.
      return { isError: true, content: [{ type: "text", text: error.message }] };
    });
  }

  async setLoggingLevel(level) {
    if (this.stateless) this.level = level;
    else await this.client.setLoggingLevel(level);
  }

  async subscribeResource({ uri }) {
    if (this.stateless) this.subscription = await this.client.listen({ resourceSubscriptions: [uri] });
    else await this.client.subscribeResource({ uri });
  }

  async unsubscribeResource({ uri }) {
    if (this.stateless) await this.subscription.close();
    else await this.client.unsubscribeResource({ uri });
  }

  // The SDK reports the 404 that comes with an unknown method as an HTTP error.
  request(request) {
    const anything = { "~standard": { version: 1, vendor: "peer", validate: (value) => ({ value }) } };
    return this.client.request(request, anything).catch((error) => {
      throw error.data?.text ? JSON.parse(error.data.text).error : error;
    });
  }
}
