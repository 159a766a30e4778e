// Client of the transport matrix: node transports-client.mjs TARGET, where TARGET is
// {label, transport, url | command, env, suite, dir, unheard} as JSON. It runs the
// suite in one session and prints a JSON line for each step with what it observed, one
// with "idle" where it only waits from then on, and one with "ends" after the last
// step; then it leaves, which may take seconds.
import { suites } from "./transports-suites.mjs";
import { open } from "./transports-session.mjs";

const stepTimeout = 15_000;
const target = JSON.parse(process.argv[2]);

function within(promise, ms) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

async function attempt(step, run) {
  const report = { label: target.label, step, ok: true };
  try {
    report.value = (await within(run(), stepTimeout)) ?? null;
  } catch (error) {
    Object.assign(report, { ok: false, error: String(error?.message ?? error).slice(0, 400) });
  }
  console.log(JSON.stringify(report));
  return report.ok;
}

process.on("unhandledRejection", (error) => console.error("unhandled:", error?.message));
let session;
const connected = await attempt("connect", async () => {
  session = await open(target);
  return session.handshake;
});
for (const [step, run] of Object.entries(connected ? suites[target.suite](target) : {})) {
  await attempt(step, () => run(session));
}
console.log(JSON.stringify({ label: target.label, ends: true }));
await within(session?.close() ?? Promise.resolve(), 10_000).catch((error) => console.error("close:", error.message));
process.exit(0);
