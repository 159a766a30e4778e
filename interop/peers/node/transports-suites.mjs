// What is done in a session, for each of the reference servers. A step returns what
// it observed; steps run in this order, which some of them count on.
import { everything } from "./transports-everything.mjs";
import { refused, succeeds } from "./transports-session.mjs";

const calls = (table, judged = succeeds) =>
  Object.fromEntries(Object.entries(table).map(([step, [tool, args]]) => [step, (session) => judged(session.call(tool, args))]));

// until asks again and again until the answer is as wanted; the step's timeout
// ends a wait in vain.
async function until(ask, wanted) {
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const allowed = (session, wanted) =>
  until(() => session.call("list_allowed_directories"), ({ content }) => content[0].text.split("\n").length === wanted.length + 1
    && wanted.every((name) => content[0].text.includes(`${session.target.dir}/${name}`)));

// The server learns by asking the client which directories it may touch.
const filesystem = ({ dir }) => ({
  ping: (session) => session.request("ping"),
  "tools/list": (session) => session.request("tools/list"),
  roots: (session) => allowed(session, ["files", "more"]),
  ...calls({
    write: ["write_file", { path: `${dir}/files/a.txt`, content: "one\ntwo\nthree ✓ 𝄞\n" }],
    mkdir: ["create_directory", { path: `${dir}/files/sub/deep` }],
    read: ["read_text_file", { path: `${dir}/files/a.txt` }],
    head: ["read_text_file", { path: `${dir}/files/a.txt`, head: 1 }],
    "edit-dry": ["edit_file", { path: `${dir}/files/a.txt`, edits: [{ oldText: "two", newText: "2" }], dryRun: true }],
    edit: ["edit_file", { path: `${dir}/files/a.txt`, edits: [{ oldText: "one", newText: "1" }] }],
    several: ["read_multiple_files", { paths: [`${dir}/files/a.txt`, `${dir}/files/missing.txt`] }],
    image: ["read_media_file", { path: `${dir}/files/dot.png` }],
    audio: ["read_media_file", { path: `${dir}/files/tone.wav` }],
    bytes: ["read_media_file", { path: `${dir}/files/some.bin` }],
    list: ["list_directory", { path: `${dir}/files` }],
    sizes: ["list_directory_with_sizes", { path: `${dir}/files`, sortBy: "size" }],
    tree: ["directory_tree", { path: `${dir}/files` }],
    search: ["search_files", { path: `${dir}/files`, pattern: "*.txt" }],
    info: ["get_file_info", { path: `${dir}/files/a.txt` }],
    move: ["move_file", { source: `${dir}/files/a.txt`, destination: `${dir}/more/b.txt` }],
    moved: ["read_text_file", { path: `${dir}/more/b.txt` }],
  }),
  ...calls({
    gone: ["read_text_file", { path: `${dir}/files/a.txt` }],
    denied: ["read_text_file", { path: `${dir}/secret.txt` }],
    "bad-arguments": ["read_text_file", { path: 7 }],
    "unknown-tool": ["no-such-tool"],
  }, refused),
  "no-resources": (session) => refused(session.request("resources/list")),
  "roots-changed": async (session) => {
    session.roots = session.roots.slice(0, 1);
    await session.client.sendRootsListChanged();
    await allowed(session, ["files"]);
    return refused(session.call("read_text_file", { path: `${dir}/more/b.txt` }));
  },
  asked,
});

const graph = "memory://knowledge-graph";
const entity = (name, ...observations) => ({ name, entityType: "person", observations });

const memory = () => ({
  ping: (session) => session.request("ping"),
  "tools/list": (session) => session.request("tools/list"),
  "resources/list": (session) => session.request("resources/list"),
  subscribe: (session) => session.request("resources/subscribe", { uri: graph }),
  updated: async (session) => {
    const created = await session.call("create_entities", { entities: [entity("Ada", "wrote ✓"), entity("Alan")] });
    return { created, ...(await session.inbox.next("notifications/resources/updated")) };
  },
  ...calls({
    relate: ["create_relations", { relations: [{ from: "Ada", to: "Alan", relationType: "precedes" }] }],
    observe: ["add_observations", { observations: [{ entityName: "Alan", contents: ["computes", "9007199254740993"] }] }],
    graph: ["read_graph"],
    search: ["search_nodes", { query: "computes" }],
    open: ["open_nodes", { names: ["Ada"] }],
    forget: ["delete_observations", { deletions: [{ entityName: "Ada", observations: ["wrote ✓"] }] }],
    unrelate: ["delete_relations", { relations: [{ from: "Ada", to: "Alan", relationType: "precedes" }] }],
    remove: ["delete_entities", { entityNames: ["Ada"] }],
    rest: ["read_graph"],
  }),
  ...calls({
    "observe-nobody": ["add_observations", { observations: [{ entityName: "Nobody", contents: ["x"] }] }],
    "bad-arguments": ["open_nodes", { names: "Ada" }],
    "unknown-tool": ["no-such-tool"],
  }, refused),
  "resources/read": (session) => session.request("resources/read", { uri: graph }),
  "unknown-resource": (session) => refused(session.request("resources/read", { uri: `${graph}/none` })),
  "no-prompts": (session) => refused(session.request("prompts/list")),
  asked,
});

// What the server asked, each thing once: how often it asks for the roots depends
// on when it learns that they changed.
async function asked({ requests }) {
  return [...new Set(requests.map((request) => JSON.stringify(request)))].sort().map((request) => JSON.parse(request));
}

export const suites = {
  filesystem,
  memory,
  everything: (target) => ({ ...everything(target), ...(target.unheard ? {} : { asked }) }),
};
