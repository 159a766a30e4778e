// The steps: each returns {ok, value, error}, where ok says whether a user of this
// client got what the step is about, and value is for the reader of a failure.

const digits = "9007199254740993";

export const steps = {
  ping: async ({ client }) => {
    await client.ping();
    return { ok: true };
  },
  "tools/list": async (session) => {
    const names = await toolNames(session);
    return { ok: names.includes("echo") && names.includes("structured"), value: names };
  },
  structured: async (session) => {
    const result = await call(session, "structured");
    const viaText = textOf(result).includes("42");
    const viaStructure = session.sdk.features.structured && result.structuredContent?.answer === 42;
    return { ok: viaText || viaStructure, value: { viaText, viaStructure: Boolean(viaStructure) } };
  },
  bigint: async (session) => {
    const text = textOf(await call(session, "bigint", { digits, n: 9007199254740991 }));
    return { ok: text.startsWith(`digits=${digits} n=9007199254740991`), value: text };
  },
  ask: (session) => reverse(session, "ask", session.declared.elicitation, "hello Ada"),
  "ask-decline": (session) => reverse(session, "ask-decline", session.declared.elicitation, "no answer: decline"),
  "ask-cancel": (session) => reverse(session, "ask-cancel", session.declared.elicitation, "no answer: cancel"),
  "ask-url": (session) => reverse(session, "ask-url", session.declared.elicitation?.url, "url: accept"),
  "ask-url-decline": (session) => reverse(session, "ask-url-decline", session.declared.elicitation?.url, "url: decline"),
  "ask-url-cancel": (session) => reverse(session, "ask-url-cancel", session.declared.elicitation?.url, "url: cancel"),
  "ask-raw": (session) => reverse(session, "ask-raw", session.declared.elicitation, "hello Ada"),
  sample: (session) => reverse(session, "sample", session.declared.sampling, "model: hi"),
  roots: (session) => reverse(session, "roots", session.declared.roots, "roots: file:///srv/one,file:///srv/two"),
  progress: async (session) => {
    const seen = [];
    let complete;
    const all = new Promise((resolve) => (complete = resolve));
    const onprogress = ({ progress, total }) => seen.push(`${progress}/${total}`) === 3 && complete();
    await expect(session, "progress", all, { onprogress });
    // One of the servers spreads them over two streams, so their order is not fixed.
    return { ok: [...seen].sort().join() === "1/3,2/3,3/3", value: seen };
  },
  cancel: async (session) => {
    const abort = new AbortController();
    const slow = call(session, "slow", {}, { signal: abort.signal }).catch((error) => error);
    await call(session, "wait-slow");
    abort.abort("the user changed their mind");
    await slow;
    const count = textOf(await call(session, "cancelled-count"));
    return { ok: Number(count) >= 1, value: count };
  },
  links: async (session) => {
    const result = await call(session, "links");
    return { ok: textOf(result).includes("see these"), value: result.content.map((block) => block.type) };
  },
  log: async (session) => {
    await session.client.setLoggingLevel("info");
    const logged = session.inbox.next("notifications/message", (entry) => entry.data === "logged by the peer");
    const { params } = await expect(session, "log", logged);
    return { ok: params.level === "info", value: params };
  },
  "resources/list": async ({ client }) => {
    const uris = (await client.listResources()).resources.map((resource) => resource.uri);
    return { ok: uris.includes("demo://a"), value: uris };
  },
  "resources/read": async ({ client }) => {
    const read = async (uri) => (await client.readResource({ uri })).contents[0].text;
    const value = [await read("demo://a"), await read("demo://item/7")];
    return { ok: value.join() === "text of a,item 7", value };
  },
  "resources/templates": async ({ client }) => {
    const { resourceTemplates } = await client.listResourceTemplates();
    const value = resourceTemplates.map((template) => template.uriTemplate);
    return { ok: value.includes("demo://item/{id}"), value };
  },
  subscribe: async (session) => {
    await session.client.subscribeResource({ uri: "demo://a" });
    const updated = session.inbox.next("notifications/resources/updated", (params) => params.uri === "demo://a");
    await expect(session, "touch", updated);
    await session.client.unsubscribeResource({ uri: "demo://a" });
    return { ok: true };
  },
  "list-changed": async (session) => {
    await expect(session, "add-tool", session.inbox.next("notifications/tools/list_changed"));
    const { tools } = await session.client.listTools();
    return { ok: tools.some((tool) => tool.name.startsWith("added-")) };
  },
  "prompts/list": async ({ client }) => {
    const names = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
    return { ok: names.includes("greet"), value: names };
  },
  "prompts/get": async ({ client }) => {
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    return { ok: messages[0].content.text === "Hello, Ada", value: messages[0].content.text };
  },
  completion: async ({ client }) => {
    const ref = { type: "ref/prompt", name: "greet" };
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "A" } });
    return { ok: completion.values.join() === "Ada,Alan", value: completion.values };
  },
  "unknown-method": async ({ client, sdk }) => {
    const code = await client.request({ method: "demo/unknown", params: {} }, sdk.types.EmptyResultSchema)
      .then(() => "no error", (error) => error.code);
    return { ok: code === -32601, value: code };
  },
  "unknown-tool": async (session) => {
    const outcome = await session.client.callTool({ name: "no-such-tool", arguments: {} })
      .then((result) => (result.isError ? "isError" : "success"), (error) => error.code ?? error.message);
    return { ok: outcome === "isError" || outcome === -32602, value: outcome };
  },
  parallel: async (session) => {
    const values = Array.from({ length: 20 }, (_, index) => `v${index}`);
    const answers = await Promise.all(values.map(async (value) => textOf(await call(session, "echo", { value }))));
    const wrong = answers.filter((answer, index) => answer !== `echo ${values[index]}`);
    return { ok: wrong.length === 0, value: wrong };
  },
};

async function toolNames(session) {
  if (!session.tools) {
    const { tools } = await session.client.listTools();
    session.tools = tools.map((tool) => tool.name).sort();
  }
  return session.tools;
}

async function call(session, name, args = {}, options) {
  if (!(await toolNames(session)).includes(name)) throw new Error("unsupported by server");
  return session.client.callTool({ name, arguments: args }, session.sdk.types.CallToolResultSchema, options);
}

// Calls a tool that notifies, waits for the notification while the call is still
// open, then tells the tool to return.
async function expect(session, tool, notification, options) {
  const called = call(session, tool, {}, options).then((result) => {
    if (result.isError) throw new Error(textOf(result));
  });
  const early = called.then(() => Promise.reject(new Error(`no notification came during ${tool}`)));
  const received = await Promise.race([notification, early]);
  early.catch(() => {}); // the call is expected to end later than the notification
  await call(session, "release");
  await called;
  return received;
}

// A tool that asks the client back: with the capability the exact answer must
// come, without it the call must end with something that can be shown.
async function reverse(session, tool, capable, expected) {
  const result = await call(session, tool);
  const text = textOf(result);
  return { ok: capable ? text === expected : text !== "", value: text };
}

function textOf(result) {
  return (result.content ?? []).filter((block) => block.type === "text").map((block) => block.text).join("\n");
}
