// A session of the TypeScript SDK over any of its four client transports. What the
// server says unasked is noted as it comes off the transport: the SDK itself drops
// a progress notification that is read together with the result.
import { Client } from "sdk-1.32.2/client/index.js";
import { SSEClientTransport } from "sdk-1.32.2/client/sse.js";
import { StdioClientTransport } from "sdk-1.32.2/client/stdio.js";
import { StreamableHTTPClientTransport } from "sdk-1.32.2/client/streamableHttp.js";
import { WebSocketClientTransport } from "sdk-1.32.2/client/websocket.js";
import * as types from "sdk-1.32.2/types.js";
import { Inbox } from "./client-session.mjs";

const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

const transports = {
  stdio: ({ command: [command, ...args], env }) => new StdioClientTransport({ command, args, env }),
  sse: ({ url }) => new SSEClientTransport(new URL(url)),
  http: ({ url }) => new StreamableHTTPClientTransport(new URL(url)),
  ws: ({ url }) => new WebSocketClientTransport(new URL(url)),
};

export async function open(target) {
  const transport = transports[target.transport](target);
  const client = new Client({ name: "transports", version: "1.0.0" }, { capabilities });
  const session = new Session(client, target);
  await session.connect(transport);
  return session;
}

class Session {
  inbox = new Inbox();
  requests = [];
  answer = "accept"; // what the user does when asked

  constructor(client, target) {
    this.client = client;
    this.target = target;
    this.roots = [
      { uri: `file://${target.dir}/files`, name: "files" },
      { uri: `file://${target.dir}/more`, name: "more" },
    ];
    client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: this.roots }));
    client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => this.elicit(params));
    client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => ({
      model: "peer-model", role: "assistant", stopReason: "endTurn",
      content: { type: "text", text: `to ${params.messages.length} message` },
    }));
  }

  async connect(transport) {
    this.transport = transport;
    const connected = this.client.connect(transport);
    const deliver = transport.onmessage;
    transport.onmessage = (message, ...more) => {
      this.note(message);
      deliver?.call(transport, message, ...more);
    };
    await connected;
  }

  note({ id, method, params, result }) {
    if (result?.protocolVersion) this.handshake ??= result;
    if (method && id === undefined) this.inbox.add({ method, params });
    if (method && id !== undefined) this.requests.push({ method, params });
  }

  elicit({ message, mode }) {
    if (mode === "url") return { action: "accept" };
    if (message.includes("interpretations")) return { action: "accept", content: { interpretation: "technical" } };
    const content = { name: "Ada", check: true, integer: 7, number: 2.5, untitledMultipleSelectEnum: ["Piano"] };
    return this.answer === "accept" ? { action: "accept", content } : { action: this.answer };
  }

  // request returns the result as it is, whatever members it has.
  request(method, params, options) {
    return this.client.request({ method, params }, types.ResultSchema, options);
  }

  call(name, args = {}, options) {
    return this.request("tools/call", { name, arguments: args }, options);
  }

  // told waits for a log message, and returns it.
  told(pattern) {
    return this.inbox.next("notifications/message", ({ data }) => pattern.test(String(data)));
  }

  async close() {
    await this.transport.terminateSession?.();
    await this.client.close();
  }
}

// succeeds is a step that must give a result, and no tool's own error.
export async function succeeds(promise) {
  const result = await promise;
  if (result.isError) throw new Error(`the tool failed: ${JSON.stringify(result.content)}`);
  return result;
}

// refused is a step that must fail, as a tool or as a request.
export async function refused(promise) {
  const failure = await promise.then(
    (result) => (result.isError ? result : undefined),
    ({ code, message, data }) => ({ code, message, data }),
  );
  if (!failure) throw new Error("there is a result where an error was expected");
  if (failure.content === undefined && failure.code === undefined) throw new Error(failure.message);
  return failure;
}
