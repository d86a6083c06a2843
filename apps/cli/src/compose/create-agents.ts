import type { Agent } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { Chatbots, Knowledge, KnowledgeTools } from "@loopwright/tools-knowledge";
import { childEnvironment } from "../secrets/child-environment.ts";
import { noAgent } from "../settings/chosen-agent.ts";
import type { Settings } from "../settings/settings.ts";
import { type OpenedSkills, openSkills } from "../skills/open-skills.ts";
import { type AssistantOptions, assistantTools, createAssistant } from "./create-assistant.ts";
import { chatbotMode, createMainThread, researchMode, searchMode } from "./create-main-thread.ts";
import { modelsOf, type ProviderChain } from "./create-provider.ts";
import { createResearch } from "./create-research.ts";
import { openMemory } from "./knowledge/open-memory.ts";
import { loadAgents } from "./load-agents.ts";
import { loadTools } from "./load-tools.ts";
import { openMcp } from "./mcp/open-mcp.ts";
import { offerTools } from "./offer-tools.ts";

/** What the agents of the settings are made for. */
export interface AgentsOptions extends Pick<AssistantOptions, "isAttended" | "surface" | "preferences"> {
  /** True: all of them; false: the assistant and the one that was chosen. Default false. */
  readonly offersAll?: boolean;
}

/** The agents of the settings. */
export interface MadeAgents {
  /** The one that answers comes first. */
  readonly agents: readonly Agent[];
  /** Modes that inputs to them may name. */
  readonly modes: readonly string[];
  /** Names of the chatbots that inputs may name. */
  readonly chatbots: readonly string[];
  readonly skills: OpenedSkills;
  /** Ends what agents have open. */
  close(): Promise<void>;
}

/** What agents run with. */
export interface AgentsParts {
  readonly settings: Settings;
  readonly chain: ProviderChain;
  readonly store: SessionStore;
  /** What agents search. */
  readonly knowledge: Knowledge | undefined;
}

/** What agents search a knowledge base and ask chatbots with. Chatbots without a knowledge base have their prompts alone. */
async function searchOf(knowledge: Knowledge | undefined, chatbots: Chatbots): Promise<KnowledgeTools | undefined> {
  const asked = Object.keys(chatbots).length === 0 ? {} : { chatbots };
  if (!knowledge && !asked.chatbots) return undefined;
  const { createKnowledge, knowledgeTools, memoryKnowledgeStore } = await import("@loopwright/tools-knowledge");
  return knowledgeTools({ knowledge: knowledge ?? createKnowledge({ store: memoryKnowledgeStore() }), ...asked });
}

/**
 * The agents that the settings ask for. One of the user's module takes the place of ours of the same name.
 * @throws AgentError CONFIG_INVALID for a name that none of them has, or a module that gives no agents; MODEL_KEY_MISSING
 */
export async function createAgents({ settings, chain, store, knowledge }: AgentsParts, options: AgentsOptions): Promise<MadeAgents> {
  const { agentName, agentsFile, webUrl, toolsFile, filesDirectory } = settings;
  const model = modelsOf(chain);
  const { isAttended, surface = "terminal", offersAll = false, preferences } = options;
  const memory = await openMemory(settings);
  const extras = {
    ...(preferences ? { preferences } : {}),
    ...(memory ? { context: memory.context } : {}),
    ...(settings.nudges ? { hooks: [(await import("@loopwright/nudges")).workflowNudges(settings.nudges)] } : {}),
  };
  const directory = process.cwd();
  const environment = await childEnvironment(settings);
  const { blobs } = store;
  const loaded = toolsFile === undefined ? [] : await loadTools(toolsFile, { environment }, directory);
  const named = new Set(loaded.map(({ name }) => name));
  const offered = [
    ...(await offerTools(settings, { blobs, children: environment })),
    ...((await searchOf(knowledge, {}))?.tools ?? []),
    ...(memory?.tools ?? []),
  ];
  const ownTools = [...offered.filter(({ name }) => !named.has(name)), ...loaded];
  const tools = assistantTools({ filesDirectory, isAttended, ownTools });
  const own =
    agentsFile === undefined
      ? { agents: [], modes: [], chatbots: {} }
      : await loadAgents(agentsFile, { provider: chain[0], model, tools, blobs, environment }, directory);
  const skills = await openSkills(settings, environment);
  const mcp = await openMcp(settings);
  const equip = (agent: Agent): Agent => skills.equip(mcp ? mcp.equip(agent) : agent);
  const assistant = equip(createAssistant({ model, surface, filesDirectory, isAttended, ownTools, ...extras }));
  const web = webUrl === undefined ? undefined : await createResearch({ model, webUrl, store, ...(preferences ? { preferences } : {}) });
  const hasMainThread = offersAll || agentName === "main-thread";
  const search = hasMainThread ? await searchOf(knowledge, own.chatbots) : undefined;
  const chatbots = search ? Object.keys(own.chatbots) : [];
  const mainThread = hasMainThread
    ? [equip(await createMainThread({ model, surface, tools, filesDirectory, web, search, ...extras }))]
    : [];
  const ours = [assistant, ...mainThread, ...(web ? [web.research, web.researcher] : [])];
  const all = [...own.agents, ...ours.filter(({ name }) => !own.agents.some((one) => one.name === name))];
  // Without a name of it the module's first agent is one among others: the assistant answers, as it does without a module.
  const first = all.find(({ name }) => name === agentName);
  if (!first)
    throw noAgent(
      agentName,
      all.map(({ name }) => name),
    );
  const known = hasMainThread ? mainThreadModes({ web, knowledge, chatbots }) : [];
  const modes = [...new Set([...known, ...own.modes])];
  return { agents: [first, ...all.filter((agent) => agent !== first)], modes, chatbots, skills, close: async () => mcp?.close() };
}

/** The modes that the main thread knows, by what it has. */
function mainThreadModes({
  web,
  knowledge,
  chatbots,
}: Pick<AgentsParts, "knowledge"> & { readonly web: object | undefined; readonly chatbots: readonly string[] }): readonly string[] {
  return [...(web ? [researchMode] : []), ...(knowledge ? [searchMode] : []), ...(chatbots.length > 0 ? [chatbotMode] : [])];
}
