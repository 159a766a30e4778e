// Client peer that is told what to do: node sessions.mjs SDK_ALIAS
// Standard input has a JSON object on each line, {n, op, session, url, tool, args};
// each is answered by a line {n, ok, value, error}, in the order of their ends.
// The operation "steady" calls a tool again and again, until "rest" asks how that
// went; "visits" opens and closes a session for each call. PAUSE is how many
// milliseconds lie between such calls.
// "progress" tells how often the "slow" call of a session has reported any.
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { loadClientSDK } from "./sdk.mjs";

const sdk = await loadClientSDK(process.argv[2]);
const sessions = new Map();
const timeout = 30_000;
const pause = Number(process.env.PAUSE ?? 0);

const operations = {
  open: async ({ session, url }) => {
    sessions.set(session, await open(session, url));
  },
  tools: async ({ session }) => (await sessions.get(session).client.listTools()).tools.map(({ name }) => name),
  call: ({ session, tool, args }) => call(sessions.get(session), tool, args),
  slow: ({ session, tool, args }) => {
    const held = sessions.get(session);
    held.progress = 0;
    return call(held, tool, args, { onprogress: () => held.progress++ });
  },
  close: async ({ session }) => {
    await close(sessions.get(session));
    sessions.delete(session);
  },
  steady: ({ session, tool, args }) => {
    const held = sessions.get(session);
    begin(held, () => call(held, tool, args));
  },
  visits: ({ session, url, tool, args }) => {
    const held = {};
    sessions.set(session, held);
    begin(held, async () => {
      const visit = await open(session, url, { requestInit: { headers: { connection: "close" } } });
      await call(visit, tool, args);
      await close(visit);
    });
  },
  sofar: ({ session }) => sessions.get(session).report,
  progress: ({ session }) => sessions.get(session).progress,
  rest: async ({ session }) => {
    const held = sessions.get(session);
    held.resting = true;
    await held.running;
    held.resting = false;
    return held.report;
  },
};

async function open(name, url, options) {
  const client = new sdk.Client({ name, version: "1.0.0" }, { capabilities: {} });
  client.onerror = () => {}; // what it means for a call, the call says
  const transport = new sdk.Transport(new URL(url), options);
  await client.connect(transport, { timeout });
  return { client, transport };
}

async function close({ client, transport }) {
  await transport.terminateSession?.();
  await client.close();
}

async function call({ client }, tool, args = {}, options = {}) {
  const result = await client.callTool({ name: tool, arguments: args }, sdk.types.CallToolResultSchema, { timeout, ...options });
  const text = result.content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
  if (result.isError) throw new Error(text);
  return text;
}

function begin(held, run) {
  held.report = { calls: 0, slowest: 0, failures: [] };
  held.running = repeat(held, run);
}

async function repeat(held, run) {
  while (!held.resting && held.report.failures.length < 10) {
    const began = performance.now();
    await run().catch((error) => held.report.failures.push([error.message, error.cause].filter(Boolean).join(": ")));
    held.report.calls++;
    held.report.slowest = Math.max(held.report.slowest, Math.round(performance.now() - began));
    if (pause) await setTimeout(pause);
  }
}

async function answer(request) {
  const { n } = request;
  try {
    return { n, ok: true, value: await operations[request.op](request) };
  } catch (error) {
    return { n, ok: false, error: error.message, code: error.code };
  }
}

process.on("unhandledRejection", (error) => console.error("unhandled:", error?.message));
for await (const line of createInterface({ input: process.stdin })) {
  answer(JSON.parse(line)).then((reply) => console.log(JSON.stringify(reply)));
}
process.exit(0);
