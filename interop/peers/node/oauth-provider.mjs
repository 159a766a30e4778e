// An OAuth client's memory, and the person in front of it: the SDK "opens the browser"
// with a URL, which is fetched; whoever is there is logged in at once, so that what
// comes back is a redirect to the client with a code.

const callback = "http://127.0.0.1:9/callback";
const mostRedirects = 5;

export class Provider {
  logins = 0;

  constructor(name) {
    this.name = name;
  }

  get redirectUrl() {
    return callback;
  }

  get clientMetadata() {
    return {
      client_name: this.name,
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_post",
    };
  }

  state() {
    return `state-${this.name}-${this.logins}`;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.saved = tokens;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  discoveryState() {
    return this.discovered;
  }

  saveDiscoveryState(state) {
    this.discovered = state;
  }

  invalidateCredentials(scope) {
    if (scope === "all" || scope === "client") this.client = undefined;
    if (scope === "all" || scope === "tokens") this.saved = undefined;
  }

  async redirectToAuthorization(url) {
    this.logins++;
    this.answer = await browse(url);
    // Some versions send no state; where one was sent it must come back.
    const state = url.searchParams.get("state");
    if (this.answer.get("state") !== state) throw new Error(`the state ${state} came back as ${this.answer.get("state")}`);
  }
}

// browse follows redirects until one leads to the client, and returns its query.
async function browse(start) {
  let url = start;
  for (let i = 0; i < mostRedirects; i++) {
    const response = await fetch(url, { redirect: "manual" });
    const text = await response.text();
    const location = response.headers.get("location");
    if (!location) throw new Error(`the login page at ${url.origin}${url.pathname} answers ${response.status} ${text.slice(0, 200)}`);
    url = new URL(location, url);
    if (!url.href.startsWith(callback)) continue;
    if (!url.searchParams.get("code")) throw new Error(`the login ended with ${url.search}`);
    return url.searchParams;
  }
  throw new Error("the login page redirects without an end");
}
