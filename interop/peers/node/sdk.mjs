// Loads one of the installed SDK versions by its npm alias and says what that
// version can express, so that the peers never send what their SDK lacks.

const load = (alias, path) => import(`${alias}/${path}`);

export async function loadServerSDK(alias) {
  const [{ Server }, { StreamableHTTPServerTransport }, { SSEServerTransport }, types] = await Promise.all([
    load(alias, "server/index.js"),
    load(alias, "server/streamableHttp.js").catch(missing),
    load(alias, "server/sse.js"),
    load(alias, "types.js"),
  ]);
  return { Server, Transport: StreamableHTTPServerTransport, SSEServerTransport, types, features: features(types) };
}

export async function loadClientSDK(alias) {
  const [{ Client }, { StreamableHTTPClientTransport }, { SSEClientTransport }, { WebSocketClientTransport }, { StdioClientTransport }, types] = await Promise.all([
    load(alias, "client/index.js"),
    load(alias, "client/streamableHttp.js").catch(missing),
    load(alias, "client/sse.js"),
    load(alias, "client/websocket.js").catch(missing),
    load(alias, "client/stdio.js"),
    load(alias, "types.js"),
  ]);
  // The URL tells which transport a target is spoken to by: called with new,
  // this function gives a transport of the one or the other class.
  function Transport(url, options) {
    if (url.protocol === "ws:") return new WebSocketClientTransport(url);
    return new (url.pathname.endsWith("/sse") ? SSEClientTransport : StreamableHTTPClientTransport)(url, options);
  }
  return { Client, Transport, StdioClientTransport, types, features: features(types) };
}

// missing stands for a module that an SDK version does not have yet.
function missing(error) {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  return {};
}

function features(types) {
  return {
    elicitation: Boolean(types.ElicitRequestSchema),
    // One version has the types for it, but no revision with it.
    url: Boolean(types.ElicitRequestURLParamsSchema) && types.LATEST_PROTOCOL_VERSION >= "2025-11-25",
    audio: Boolean(types.AudioContentSchema),
    resourceLink: Boolean(types.ResourceLinkSchema),
    structured: Boolean(types.CallToolResultSchema.shape?.structuredContent),
  };
}
