// One connected SDK client plus what the steps need around it: the notifications
// it received, the tools it saw and the capabilities it declared.

export async function connect(sdk, target) {
  const { Client, Transport, features } = sdk;
  const full = target.caps === "full";
  const declared = full ? { sampling: {}, roots: { listChanged: true } } : {};
  if (full && features.elicitation) declared.elicitation = features.url ? { form: {}, url: {} } : {};
  const client = new Client({ name: target.label, version: "1.0.0" }, { capabilities: declared });
  addHandlers(client, sdk, declared);
  const inbox = new Inbox();
  client.fallbackNotificationHandler = async (notification) => inbox.add(notification);
  const transport = target.command ? spawned(sdk, target) : new Transport(new URL(target.url));
  const negotiated = await connectNoting(client, transport);
  return {
    client, sdk, declared, inbox, negotiated, transport,
    close: async () => {
      await transport.terminateSession?.();
      await client.close();
    },
  };
}

// spawned is the transport to a server that the client starts itself.
export function spawned({ StdioClientTransport }, { command: [command, ...args], env }) {
  return new StdioClientTransport({ command, args, env: { ...process.env, ...env } });
}

// The SDK keeps the negotiated version to itself in some versions, so it is
// read from the initialize response as it passes by.
async function connectNoting(client, transport) {
  let negotiated = "";
  const connected = client.connect(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message, ...more) => {
    negotiated ||= message.result?.protocolVersion ?? "";
    deliver?.call(transport, message, ...more);
  };
  await connected;
  return negotiated;
}

function addHandlers(client, { types }, declared) {
  if (declared.elicitation) {
    client.setRequestHandler(types.ElicitRequestSchema, answer);
  }
  if (declared.sampling) {
    client.setRequestHandler(types.CreateMessageRequestSchema, () => ({
      model: "peer-model", role: "assistant", content: { type: "text", text: "hi" },
    }));
  }
  if (declared.roots) {
    client.setRequestHandler(types.ListRootsRequestSchema, () => ({
      roots: [{ uri: "file:///srv/one", name: "one" }, { uri: "file:///srv/two" }],
    }));
  }
}

// The user declines and cancels what asks for that, and answers everything else.
export function answer({ params: { message, mode } }) {
  if (message === "Decline this") return { action: "decline" };
  if (message === "Cancel this") return { action: "cancel" };
  return mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada" } };
}

export class Inbox {
  messages = [];
  waiters = [];

  add(notification) {
    this.messages.push(notification);
    for (const waiter of [...this.waiters]) waiter();
  }

  next(method, matches = () => true) {
    const find = () => this.messages.find((entry) => entry.method === method && matches(entry.params ?? {}));
    return new Promise((resolve) => {
      const check = () => {
        const found = find();
        if (!found) return;
        this.waiters = this.waiters.filter((waiter) => waiter !== check);
        resolve(found);
      };
      this.waiters.push(check);
      check();
    });
  }
}
