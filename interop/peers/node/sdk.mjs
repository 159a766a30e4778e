// Loads one of the installed SDK versions by its npm alias and says what that
// version can express, so that the peers never send what their SDK lacks.

const load = (alias, path) => import(`${alias}/${path}`);

export async function loadServerSDK(alias) {
  const [{ Server }, { StreamableHTTPServerTransport }, types] = await Promise.all([
    load(alias, "server/index.js"),
    load(alias, "server/streamableHttp.js"),
    load(alias, "types.js"),
  ]);
  return { Server, Transport: StreamableHTTPServerTransport, types, features: features(types) };
}

export async function loadClientSDK(alias) {
  const [{ Client }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    load(alias, "client/index.js"),
    load(alias, "client/streamableHttp.js"),
    load(alias, "types.js"),
  ]);
  return { Client, Transport: StreamableHTTPClientTransport, types, features: features(types) };
}

function features(types) {
  return {
    elicitation: Boolean(types.ElicitRequestSchema),
    audio: Boolean(types.AudioContentSchema),
    resourceLink: Boolean(types.ResourceLinkSchema),
    structured: Boolean(types.CallToolResultSchema.shape?.structuredContent),
  };
}
