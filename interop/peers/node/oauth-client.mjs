// OAuth client: node oauth-client.mjs SDK_ALIAS --targets FILE, which holds a JSON list of
// {label, url, revoke, steps}. The alias v2-VERSION is the SDK's second generation, kept to that
// version. In each visit the client is told 401, finds out where to log in, does so and
// goes on; it prints a JSON line for each step. The label is its name everywhere.
import { readFileSync } from "node:fs";
import { Provider } from "./oauth-provider.mjs";
import { loadClientSDK } from "./sdk.mjs";

const stepTimeout = 20_000;
const visitsAtOnce = 4;
const [alias, , file] = process.argv.slice(2);
const sdk = await (alias.startsWith("v2-") ? loadSecond(alias.slice(3)) : loadFirst(alias));

async function loadFirst(name) {
  const { Client, Transport } = await loadClientSDK(name);
  const { UnauthorizedError } = await import(`${name}/client/auth.js`);
  return {
    UnauthorizedError,
    client: (label) => new Client({ name: label, version: "1.0.0" }, { capabilities: {} }),
    transport: (url, authProvider) => new Transport(url, { authProvider }),
    finish: (transport, answer) => transport.finishAuth(answer.get("code")),
  };
}

async function loadSecond(version) {
  const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import("@modelcontextprotocol/client");
  return {
    UnauthorizedError,
    client: (label) => new Client({ name: label, version: "1.0.0" }, { capabilities: {}, versionNegotiation: { mode: { pin: version } } }),
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    finish: (transport, answer) => transport.finishAuth(answer),
  };
}

class Visit {
  constructor(target) {
    this.url = new URL(target.url);
    this.revoke = target.revoke;
    this.provider = new Provider(target.label);
  }

  // Without a token the client must be refused; once logged in it comes in.
  async connect() {
    this.transport = sdk.transport(this.url, this.provider);
    await this.refused(sdk.client(this.provider.name).connect(this.transport));
    await sdk.finish(this.transport, this.provider.answer);
    await this.transport.close();
    this.transport = sdk.transport(this.url, this.provider);
    this.client = sdk.client(this.provider.name);
    await this.client.connect(this.transport);
  }

  async refused(promise) {
    const error = await promise.then(() => undefined, (reason) => reason);
    // The second generation wraps what its probe for a version met.
    for (let cause = error; cause; cause = cause.cause) {
      if (cause instanceof sdk.UnauthorizedError) return;
    }
    throw error ?? new Error("the server let the client in without a token");
  }

  async call(name, args, wanted) {
    const result = await this.client.callTool({ name, arguments: args });
    const text = result.content?.[0]?.text;
    if (text !== wanted) throw new Error(`the tool ${name} returned ${JSON.stringify(result)}`);
  }

  echo() {
    return this.call("echo", { value: this.provider.name }, `echo ${this.provider.name}`);
  }

  // A token that is no good any more is renewed, without a person.
  async refresh() {
    const { logins, saved } = this.provider;
    if (!saved.refresh_token) throw new Error("the client was given no refresh token");
    await this.wearOut(saved);
    await this.echo();
    if (this.provider.logins !== logins) throw new Error("a person had to log in again");
    if (this.provider.saved.access_token === saved.access_token) throw new Error("the token was not renewed");
  }

  async wearOut(saved) {
    if (!this.revoke) {
      this.provider.saved = { ...saved, access_token: "worn-out" };
      return;
    }
    const response = await fetch(this.revoke, { method: "POST", body: new URLSearchParams({ token: saved.access_token }) });
    if (!response.ok) throw new Error(`the token could not be revoked: ${response.status}`);
  }

  // A tool that wants more scope makes the client ask the person for it.
  async stepUp() {
    const { logins } = this.provider;
    const needed = () => this.call("bigint", { digits: "1", n: 1 }, "digits=1 n=1");
    await this.refused(needed());
    if (this.provider.logins !== logins + 1) throw new Error(`a person was asked ${this.provider.logins - logins} times`);
    await sdk.finish(this.transport, this.provider.answer);
    await needed();
  }

  run(step) {
    const all = { connect: () => this.connect(), call: () => this.echo(), refresh: () => this.refresh(), "step-up": () => this.stepUp() };
    return all[step]();
  }
}

function within(promise, ms) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

// After a step that failed there is nothing to go on with.
async function run(target) {
  const visit = new Visit(target);
  let failed;
  for (const step of target.steps) {
    const report = { label: target.label, step, ok: !failed };
    if (failed) report.error = `not tried after ${failed}`;
    else {
      await within(visit.run(step), stepTimeout).catch((error) => {
        Object.assign(report, { ok: false, error: String(error?.message || error?.name || error).slice(0, 400) });
        failed = step;
      });
    }
    console.log(JSON.stringify(report));
  }
  await within(visit.client?.close() ?? Promise.resolve(), 5_000).catch((error) => console.error("close:", error.message));
}

process.on("unhandledRejection", (error) => console.error("unhandled:", error?.message));
const targets = JSON.parse(readFileSync(file, "utf8"));
await Promise.all(Array.from({ length: visitsAtOnce }, async () => {
  for (let target = targets.shift(); target; target = targets.shift()) await run(target);
}));
process.exit(0);
