// Server peer on standard input and output: node stdio-server.mjs SDK_ALIAS, or
// v2-modern or v2-dual for the SDK's second generation. One process is one session.
import { appendFileSync } from "node:fs";
import { Transform } from "node:stream";
import { buildServer, newState } from "./server-features.mjs";

const clientInfoKey = "io.modelcontextprotocol/clientInfo";

// received passes standard input on and writes a line for every message in it, before
// the SDK sees it, as the other servers do.
function received(path) {
  let rest = "";
  let client = "";
  const note = ({ method, params }) => {
    client = params?._meta?.[clientInfoKey]?.name ?? params?.clientInfo?.name ?? client;
    if (path && method) appendFileSync(path, JSON.stringify({ method, client }) + "\n");
  };
  const lines = new Transform({
    transform(chunk, _encoding, done) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop();
      for (const line of parts) note(JSON.parse(line));
      done(null, chunk);
    },
  });
  process.stdin.setEncoding("utf8");
  return process.stdin.pipe(lines);
}

async function serveV1(alias, input) {
  const { loadServerSDK } = await import("./sdk.mjs");
  const { StdioServerTransport } = await import(`${alias}/server/stdio.js`);
  const transport = new StdioServerTransport(input, process.stdout);
  await buildServer(alias, await loadServerSDK(alias)).connect(transport);
}

async function serveV2(posture, input) {
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { buildV2 } = await import("./v2-features.mjs");
  const state = newState();
  const build = ({ era }) => {
    // Whoever listens is told by the SDK; only sessions subscribe.
    if (era === "modern") state.subscriptions.add("demo://a");
    const built = buildV2(state, era === "legacy");
    built.notifier = {
      resourceUpdated: (uri) => built.server.sendResourceUpdated({ uri }),
      toolsChanged: () => built.server.sendToolListChanged(),
    };
    return built.server;
  };
  serveStdio(build, {
    legacy: posture === "dual" ? "serve" : "reject",
    transport: new StdioServerTransport(input, process.stdout),
  });
}

const [alias] = process.argv.slice(2);
const input = received(process.env.PEER_LOG);
input.on("end", () => setImmediate(() => process.exit(0)));
if (alias.startsWith("v2-")) await serveV2(alias.slice(3), input);
else await serveV1(alias, input);
