/**
 * Rooms and doors: which package may import which. Deny by default, exceptions by name.
 * The gate `walls` (scripts/gates/walls.mjs) plants a violation of every rule and asserts that every source file was seen.
 */
const forbid = (name, from, to, comment) => ({ name, severity: "error", comment, from, to });

const TEST = "\\.(test|test-d)\\.tsx?$|^[^/]+/[^/]+/test/";
const CORE = "^packages/core/";
const ROOMS = "^packages/core/src";
/** The tests of core that stand on its kits: a package of their own, so that core needs nothing that needs core. */
const CORE_TESTS = "^packages/core/test/";
/** Contract kits: what every package sees of them, `kits-only-in-tests` narrows to its tests. */
const KITS = "^packages/testing/";
/** Tests over the wire for providers, and the kits of ports that stand beside their tools: themselves published. */
const WIRE_KIT = "^packages/(provider-kit|approvals|guardrails|tools-[^/]+|user-settings)/src/testing/";
/** The rig is a test of processes: nothing of it is published. */
const RIG = "^apps/chaos/src/";
/** The page is bundled: its libraries are development dependencies. */
const PAGE = "^apps/web/src/";
/** The server is proved with what talks to it and what it stands on. */
const SERVER_TEST = "^packages/server/(?:test/|src/.*\\.test\\.ts$)";

/** Settings of users are proved over HTTP, with encrypted keys and a vendor's wire. */
const SETTINGS_TEST = "^packages/user-settings/test/";

/** Telemetry is proved behind a server, and over the stores that nodes share. */
const TELEMETRY_TEST = "^packages/telemetry/(?:test/|src/.*\\.test\\.ts$)";

/** Companions on Redis are proved on a real one, over a line that can be made bad. */
const FAULT_TEST = "^packages/(store-redis|store-sqlite|channel-redis|queue-bullmq)/(?:test/|src/.*\\.test\\.ts$)";

/** Secrets are proved on a real Redis too. */
const SECRETS_TEST = "^packages/secrets/test/";

/** Configuration in Redis is proved on a real one. */
const GUARDRAILS_TEST = "^packages/guardrails/test/";

/** Sessions whose history is compacted are simulated in tests of the simulator. */
const SIMULATOR_TEST = "^packages/simulator/test/";

/** The wrapper of stores is proved on the embedded one, in a host. */
const SEALED_TEST = "^packages/store-sealed/test/";

/** Chat channels and webhooks are proved between a server and what stands in for their vendor. */
const CHAT_TEST = "^packages/(chat-[^/]+|webhooks)/test/";

/** Package (regular expression) -> what it may import beside core and itself. */
const EXCEPTIONS = {
  "providers-(?!scripted$|scripted/|subprocess$|subprocess/)[^/]+": "^packages/provider-kit/",
  "providers-subprocess": "^packages/tools-cli/",
  "agents-[^/]+": "^packages/tools-[^/]+/",
  "tools-(?:craft|image)": "^packages/tools-registry/",
  "tools-cli": "^packages/tools-files/",
  skills: "^packages/tools-(cli|registry)/",
  "tools-(?:web|mcp)": "^packages/url-guard/",
  "chat-[^/]+": "^packages/(client|chat-kit)/",
  webhooks: "^packages/(client|url-guard|provider-kit)/",
  server: "^packages/host/",
  "backend-redis": "^packages/(store-redis|channel-redis|queue-bullmq)/",
  simulator: "^packages/(host|replay)/",
  embed: "^packages/(server|host)/",
  auth: "^packages/(server|host)/",
  "protocol-[^/]+": "^packages/(server|client|host)/",
  "user-settings": "^packages/(url-guard|provider-kit)/",
  "store-sealed": "^packages/secrets/",
};
const named = `(${Object.keys(EXCEPTIONS).join("|")})`;
const doors =
  "index\\.ts$|(?:ports|memory|stores|protocol|internals|testing|tools|node|schemas|audit|envelope|opentelemetry|prometheus|sqlite|telemetry)/index\\.ts$";

module.exports = {
  forbidden: [
    forbid("no-cycles", {}, { circular: true }, "Data flows one way."),
    forbid(
      "core-imports-no-sibling",
      { path: CORE, pathNot: CORE_TESTS },
      { path: "^(packages/(?!core/)|apps/)" },
      "core is the innermost room.",
    ),
    forbid(
      "core-tests-exception",
      { path: CORE_TESTS },
      { path: "^(packages/|apps/)", pathNot: [CORE, KITS] },
      "Tests of core in `test` may also use the kits.",
    ),
    forbid(
      "packages-see-core-only",
      {
        path: "^packages/([^/]+)/",
        pathNot: [
          CORE,
          `^packages/${named}/`,
          SERVER_TEST,
          SETTINGS_TEST,
          FAULT_TEST,
          SECRETS_TEST,
          SEALED_TEST,
          TELEMETRY_TEST,
          GUARDRAILS_TEST,
        ],
      },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/$1/"] },
      "Companions do not know one another.",
    ),
    forbid(
      "server-tests-exception",
      { path: SERVER_TEST },
      {
        path: "^packages/",
        pathNot: [
          CORE,
          KITS,
          "^packages/(server|host|client|approvals|providers-scripted|store-sqlite|store-redis|channel-redis|backend-redis)/",
          "^packages/simulator/src/node/",
        ],
      },
      "Tests of the server may also use its host, the client, the memory of approvals, scripted models, the embedded store, and a real Redis with its channel and store.",
    ),
    forbid(
      "settings-tests-exception",
      { path: SETTINGS_TEST },
      {
        path: "^packages/",
        pathNot: [
          CORE,
          KITS,
          "^packages/(user-settings|server|host|client|secrets|store-sqlite|store-redis|store-blob|url-guard|providers-openai)/",
          "^packages/simulator/src/node/",
        ],
      },
      "Tests of the users' settings may also use the server, its host, the client, encrypted secrets, a provider and a real Redis.",
    ),
    forbid(
      "fault-tests-exception",
      { path: FAULT_TEST },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/$1/", "^packages/simulator/src/node/"] },
      "Tests on a real Redis or a failing disk may also use what the simulator has for real services.",
    ),
    forbid(
      "secrets-tests-exception",
      { path: SECRETS_TEST },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/(secrets|store-redis|store-blob)/", "^packages/simulator/src/node/"] },
      "Tests of secrets may also use the store whose Redis they share.",
    ),
    forbid(
      "guardrails-tests-exception",
      { path: GUARDRAILS_TEST },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/guardrails/", "^packages/simulator/src/node/"] },
      "Tests of guardrails may also use a real Redis.",
    ),
    forbid(
      "simulator-tests-exception",
      { path: SIMULATOR_TEST },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/(simulator|host|replay|context|guardrails)/"] },
      "Tests of the simulator may also use the context engine, and the rules of guardrails.",
    ),
    forbid(
      "sealed-tests-exception",
      { path: SEALED_TEST },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/(store-sealed|secrets|store-sqlite|host)/"] },
      "Tests of the wrapper may also use the store that it wraps, and a host.",
    ),
    forbid(
      "telemetry-tests-exception",
      { path: TELEMETRY_TEST },
      {
        path: "^packages/",
        pathNot: [
          CORE,
          KITS,
          "^packages/(telemetry|server|host|client|secrets|store-sqlite|store-redis|store-blob|store-sealed)/",
          "^packages/simulator/src/node/",
        ],
      },
      "Tests of telemetry may also use the server, its host, the client, the stores of several nodes, and the wrapper that encrypts.",
    ),
    forbid(
      "chat-tests-exception",
      { path: CHAT_TEST },
      { path: "^packages/", pathNot: [CORE, KITS, "^packages/$1/", "^packages/(server|host|client|auth|chat-kit)/"] },
      "Tests of chat channels and webhooks may also use the server, its host, its authenticators and the client.",
    ),
    ...Object.entries(EXCEPTIONS).map(([who, may]) =>
      forbid(
        `${who.split("-")[0]}-exception`,
        { path: `^packages/(${who})/`, pathNot: [SERVER_TEST, SETTINGS_TEST, SEALED_TEST, SIMULATOR_TEST, CHAT_TEST] },
        { path: "^packages/", pathNot: [CORE, KITS, "^packages/$1/", may] },
        `Only core and ${may}.`,
      ),
    ),
    forbid(
      "client-sees-protocol-only",
      { path: "^packages/client/src/", pathNot: TEST },
      { path: CORE, pathNot: `${ROOMS}/protocol/` },
      "The client speaks the protocol only.",
    ),
    forbid(
      "page-sees-client-only",
      { path: PAGE, pathNot: TEST },
      { path: "^(packages|apps|bench|examples)/", pathNot: [PAGE, "^packages/client/", `${ROOMS}/protocol/`] },
      "The page speaks to the client, in the words of the protocol.",
    ),
    forbid(
      "page-tests-exception",
      { path: "^apps/web/(?:test/|src/.*\\.test\\.tsx?$)" },
      {
        path: "^packages/",
        pathNot: [
          CORE,
          KITS,
          "^packages/(server|host|client|approvals|providers-scripted|store-sqlite|context|tools-image|tools-craft|tools-knowledge|agents-research|user-settings|telemetry)/",
        ],
      },
      "Tests of the page may also use the server, its host, the memory of approvals, scripted models, the embedded store, the context engine, a knowledge base, tools with pictures and artifacts, what users set, telemetry, and the agents whose reports cite sources.",
    ),
    forbid("packages-never-import-apps", { path: "^(packages|bench)/" }, { path: "^apps/" }, "Apps are leaves."),
    forbid(
      "front-door-only",
      { path: "^(?:packages|apps)/([^/]+)/" },
      { path: `^packages/([^/]+)/src/(?!${doors})`, pathNot: "^packages/$1/" },
      "Import a package by its exports, never by a deep path.",
    ),
    forbid(
      "web-standards-only",
      { path: ["^packages/(core|client|provider-kit|testing|host|embed|auth)/src/(?!node/)", PAGE], pathNot: [TEST, WIRE_KIT] },
      { dependencyTypes: ["core"] },
      "No Node.js modules here.",
    ),
    forbid(
      "core-has-no-dependency",
      { path: `${ROOMS}/`, pathNot: TEST },
      { dependencyTypes: ["npm", "npm-peer", "npm-optional", "npm-no-pkg", "npm-dev", "npm-unknown"] },
      "core stands alone.",
    ),
    forbid(
      "libraries-are-declared",
      { path: "^(packages|apps)/[^/]+/src/", pathNot: [TEST, PAGE] },
      {
        path: "node_modules/",
        dependencyTypes: ["npm-no-pkg", "npm-unknown", "npm-dev"],
        dependencyTypesNot: ["npm", "npm-peer", "npm-optional"],
      },
      "A library is declared in the package.json of the package that imports it.",
    ),
    forbid(
      "page-libraries-are-declared",
      { path: PAGE, pathNot: TEST },
      { path: "node_modules/", dependencyTypes: ["npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["npm-dev"] },
      "A library of the page is declared in its package.json.",
    ),
    forbid("everything-resolves", { path: "^(packages|apps)/" }, { couldNotResolve: true }, "An import leads somewhere."),
    forbid("message-imports-nothing", { path: `${ROOMS}/message/`, pathNot: TEST }, { pathNot: `${ROOMS}/message/` }, "The nouns."),
    forbid(
      "loop-is-pure",
      { path: `${ROOMS}/loop/`, pathNot: TEST },
      { pathNot: `${ROOMS}/(loop/|message/|errors\\.ts$|error-(?:table|code)\\.ts$)` },
      "The loop knows nouns, errors and itself.",
    ),
    forbid(
      "ports-know-nouns",
      { path: `${ROOMS}/ports/`, pathNot: TEST },
      { pathNot: `${ROOMS}/(ports/|message/|loop/|errors\\.ts$|error-(?:table|code)\\.ts$)` },
      "A port speaks of messages, facts and errors.",
    ),
    forbid(
      "ports-see-loop-types",
      { path: `${ROOMS}/ports/`, pathNot: TEST },
      { path: `${ROOMS}/loop/`, dependencyTypesNot: ["type-only"] },
      "A port takes types from the loop, never code.",
    ),
    forbid(
      "stores-are-light",
      { path: `${ROOMS}/stores/`, pathNot: TEST },
      { pathNot: `${ROOMS}/(stores/|message/|ports/|loop/|errors\\.ts$|error-(?:table|code)\\.ts$)` },
      "What store packages share loads no adapter and no driver.",
    ),
    forbid(
      "kits-only-in-tests",
      { path: "^(packages|apps|bench|examples)/", pathNot: [TEST, KITS, WIRE_KIT, RIG] },
      { path: KITS },
      "Contract kits are for tests.",
    ),
    forbid(
      "internals-for-kits-only",
      { pathNot: [CORE, KITS] },
      { path: `${ROOMS}/internals/` },
      "The inside of core is shown to its kits and to nobody else.",
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(packages|apps)/[^/]+/dist/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@loopwright/source", "import", "node", "types", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".cjs", ".json"],
    },
  },
};
