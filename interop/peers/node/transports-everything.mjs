// The suite for server-everything. Where it is unheard, because a gateway before it
// spoils what the client answers, the steps in which it asks are left out.
import { createHash } from "node:crypto";
import { refused, succeeds } from "./transports-session.mjs";

const dynamic = (kind, id) => `demo://resource/dynamic/${kind}/${id}`;
const document = "demo://resource/static/document/features.md";
const simulated = /^(debug|info|notice|warning|error|critical|alert|emergency)[- ]level[- ]message/i;

const call = (tool, args) => (session) => succeeds(session.call(tool, args));
const request = (method, params) => (session) => succeeds(session.request(method, params));
const badCall = (tool, args) => (session) => refused(session.call(tool, args));
const badRequest = (method, params) => (session) => refused(session.request(method, params));
const read = (uri) => request("resources/read", { uri });
const prompt = (name, args) => request("prompts/get", { name, arguments: args });
const complete = (ref, name, value, context) =>
  request("completion/complete", { ref, argument: { name, value }, ...(context && { context: { arguments: context } }) });
const completable = { type: "ref/prompt", name: "completable-prompt" };
const template = { type: "ref/resource", uri: dynamic("text", "{resourceId}") };

const plain = {
  ping: request("ping"),
  "tools/list": request("tools/list"),
  text: call("echo", { message: "one ✓ two 𝄞 \u0000 \" \\ 9007199254740993" }),
  sum: call("get-sum", { a: 0.1, b: 1e21 }),
  structured: call("get-structured-content", { location: "Chicago" }),
  image: call("get-tiny-image"),
  annotated: call("get-annotated-message", { messageType: "error", includeImage: true }),
  links: call("get-resource-links", { count: 4 }),
  embedded: call("get-resource-reference", { resourceType: "Text", resourceId: 3 }),
  "embedded-blob": call("get-resource-reference", { resourceType: "Blob", resourceId: 3 }),
  "bad-arguments": badCall("get-sum", { a: "one" }),
  "bad-reference": badCall("get-resource-reference", { resourceType: "Text", resourceId: -1 }),
  "unknown-tool": badCall("no-such-tool"),
  "unknown-method": badRequest("demo/unknown"),
  "unknown-resource": badRequest("resources/read", { uri: "demo://resource/none" }),
  "unknown-prompt": badRequest("prompts/get", { name: "no-such-prompt" }),
  "missing-argument": badRequest("prompts/get", { name: "args-prompt", arguments: {} }),
  large: async (session) => {
    const message = "0123456789abcdé✓".repeat(32_768);
    const { text } = (await session.call("echo", { message })).content[0];
    return { length: text.length, sha256: createHash("sha256").update(text).digest("hex") };
  },
  parallel: (session) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => session.call("echo", { message: `v${index}` }))),
  progress: async (session) => {
    const result = await session.call("trigger-long-running-operation", { duration: 0.3, steps: 3 }, { onprogress() {} });
    const seen = session.inbox.messages.filter(({ method }) => method === "notifications/progress");
    return { result, seen: seen.map(({ params }) => ({ ...params, progressToken: typeof params.progressToken })) };
  },
  cancel: async (session) => {
    const abort = new AbortController();
    const slow = session.call("trigger-long-running-operation", { duration: 0.5, steps: 50 },
      { signal: abort.signal, onprogress: () => abort.abort("the user changed their mind") });
    const ended = await slow.then(() => "it ended", (error) => String(error.message ?? error));
    return { ended, after: await session.call("echo", { message: "still here" }) };
  },
  "resources/list": request("resources/list"),
  "resources/templates": request("resources/templates/list"),
  "read-document": read(document),
  "read-text": read(dynamic("text", 7)),
  "read-blob": read(dynamic("blob", 8)),
  "prompts/list": request("prompts/list"),
  "prompt-simple": prompt("simple-prompt"),
  "prompt-arguments": prompt("args-prompt", { city: "Zürich", state: "ZH" }),
  "prompt-resource": prompt("resource-prompt", { resourceType: "Blob", resourceId: "5" }),
  "complete-first": complete(completable, "department", "S"),
  "complete-context": complete(completable, "name", "D", { department: "Sales" }),
  "complete-template": complete(template, "resourceId", "12"),
};

// The server notifies outside of any call; what it was told to repeat every five
// seconds is told to stop.
const noticed = {
  subscribe: async (session) => {
    await session.request("resources/subscribe", { uri: document });
    const { params } = await session.told(/Received Subscribe/);
    const on = await session.call("toggle-subscriber-updates");
    const updated = await session.inbox.next("notifications/resources/updated");
    const off = await session.call("toggle-subscriber-updates");
    await session.request("resources/unsubscribe", { uri: document });
    return { params, on, updated, off, end: await session.told(/Received Unsubscribe/) };
  },
  // Which of its messages the server sends is left to chance.
  log: async (session) => {
    await session.request("logging/setLevel", { level: "debug" });
    const on = await session.call("toggle-simulated-logging");
    const { method, params } = await session.told(simulated);
    const { level, data, ...others } = params;
    const off = await session.call("toggle-simulated-logging");
    return { on, method, agrees: data.toLowerCase().startsWith(level), others, off };
  },
  "list-changed": async (session) => {
    const name = `${session.target.label}.gz`;
    const data = `data:text/plain,${"squeezed ".repeat(20)}`;
    const made = await session.call("gzip-file-as-resource", { name, data, outputType: "resourceLink" });
    const changed = await session.inbox.next("notifications/resources/list_changed");
    const { resources } = await session.request("resources/list");
    const uri = made.content[0].uri;
    return { made, changed, listed: resources.filter((one) => one.uri === uri), contents: await session.request("resources/read", { uri }) };
  },
};

const asking = {
  sample: call("trigger-sampling-request", { prompt: "say hi", maxTokens: 10 }),
  elicit: call("trigger-elicitation-request"),
  "elicit-decline": answering("decline"),
  "elicit-cancel": answering("cancel"),
  "elicit-url": call("trigger-url-elicitation", { url: "http://127.0.0.1/one", elicitationId: "one" }),
  "url-required": badCall("trigger-url-elicitation", { url: "http://127.0.0.1/two", errorPath: true }),
  roots: async (session) => ({ result: await session.call("get-roots-list"), told: await session.told(/^Roots updated: 2/) }),
  "roots-changed": async (session) => {
    session.roots = session.roots.slice(0, 1);
    await session.client.sendRootsListChanged();
    const told = await session.told(/^Roots updated: 1/);
    return { told, result: await session.call("get-roots-list") };
  },
};

function answering(action) {
  return async (session) => {
    session.answer = action;
    return session.call("trigger-elicitation-request");
  };
}

// A task takes the server four seconds, so the other steps run meanwhile. Its
// question reaches the client in the answer that waits for the result.
const begin = (ambiguous) => ({
  task: async (session) => {
    const params = { name: "simulate-research-query", arguments: { topic: "bridges", ambiguous }, task: { ttl: 60_000 } };
    const made = await session.request("tools/call", params);
    session.research = succeeds(session.request("tasks/result", { taskId: made.task.taskId }));
    session.research.catch(() => {}); // a step will tell
    return made;
  },
});

const end = {
  "task-result": (session) => {
    console.log(JSON.stringify({ label: session.target.label, idle: true }));
    return session.research;
  },
  "tasks/list": request("tasks/list"),
  "unknown-task": badRequest("tasks/get", { taskId: "no-such-task" }),
};

export function everything({ unheard }) {
  return { ...begin(!unheard), ...plain, ...noticed, ...(unheard ? {} : asking), ...end };
}
