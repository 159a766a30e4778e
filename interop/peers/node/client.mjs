// Client peer: node client.mjs SDK_ALIAS --targets FILE
//          or: node client.mjs SDK_ALIAS URL [--caps full|none] STEPS...
// FILE holds [{label, url | command and env, starts, caps, steps}], where
// starts says that each visit has processes of its own. One JSON line is printed for each step.
import { readFileSync } from "node:fs";
import { loadClientSDK } from "./sdk.mjs";
import * as v1 from "./client-session.mjs";
import { steps as known } from "./client-steps.mjs";

const [alias, ...rest] = process.argv.slice(2);
// "v2-auto" and the like are the second generation, which is no alias of the first.
const generation2 = alias.startsWith("v2-") ? await import("./v2-session.mjs") : undefined;
const connect = generation2?.connect ?? v1.connect;
const sdk = generation2?.loadV2(alias.slice(3)) ?? (await loadClientSDK(alias));
const startTimeout = 30_000;
const targets = rest[0] === "--targets" ? JSON.parse(readFileSync(rest[1], "utf8")) : [singleTarget(rest)];
const concurrency = targets.some((target) => target.starts) ? 2 : 8;
// Each call of an anonymous client may cost the bridge a session of its own, and some
// calls a process.
const stepTimeout = sdk.anonymous || targets.some((target) => target.starts) ? 15_000 : 5_000;

function singleTarget([url, ...args]) {
  const target = { label: "peer", url, caps: "full", steps: [] };
  if (args[0] === "--caps") [, target.caps] = args.splice(0, 2);
  target.steps = args;
  return target;
}

function within(promise, ms) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

async function attempt(run, limit = stepTimeout) {
  try {
    return await within(run(), limit);
  } catch (error) {
    return { ok: false, error: error.code === undefined ? error.message : `${error.message} (code ${error.code})` };
  }
}

async function runTarget(target) {
  const report = (step, { ok, value, error }) =>
    console.log(JSON.stringify({ label: target.label, step, ok, value, error: error?.slice(0, 400) }));
  let session;
  const connected = await attempt(async () => {
    session = await connect(sdk, target);
    return { ok: true, value: { negotiated: session.negotiated } };
  }, target.starts ? startTimeout : stepTimeout);
  report("connect", connected);
  for (const step of target.steps.filter((name) => name !== "connect")) {
    const run = known[step];
    if (!connected.ok) report(step, { ok: false, error: "not connected" });
    else if (!run) report(step, { ok: false, error: "unsupported by client" });
    else report(step, await attempt(() => run(session)));
  }
  if (session) await within(session.close(), 2_000).catch(() => {});
}

async function worker(queue) {
  for (let target = queue.shift(); target; target = queue.shift()) await runTarget(target);
}

// Some SDK versions reject promises that nobody can await (a stream that breaks
// while the session closes); the steps above already report what matters.
process.on("unhandledRejection", (error) => console.error("unhandled:", error?.message));
await Promise.all(Array.from({ length: concurrency }, () => worker(targets)));
process.exit(0);
