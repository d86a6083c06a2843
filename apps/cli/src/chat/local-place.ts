import { type Agent, type AgentSession, type ExecuteOptions, type ExecuteStream, execute, resume } from "@loopwright/core";
import type { ContextEngine, ModelProvider } from "@loopwright/core/ports";
import { commandName } from "../command-name.ts";
import { introduction } from "../compose/introduction.ts";
import { localScope } from "../compose/kept-sessions.ts";
import { createVendorWords, type VendorWords } from "../compose/vendor-words.ts";
import { openSession, type Workplace } from "../compose/workplace.ts";
import { agentFlags } from "../settings/chosen-agent.ts";
import type { ChatPlace } from "./chat-place.ts";
import type { AnswerEnd, ChatSession } from "./chat-session.ts";

/** What every message of the chat carries. */
type InputLabels = Pick<ExecuteOptions, "labels">;

/** Sessions of this process, kept in the store of the workplace. */
export function localPlace(
  workplace: Omit<Workplace, "agents" | "approvals" | "modes" | "chatbots" | "knowledge" | "skills" | "close">,
  labelled: InputLabels = {},
): ChatPlace {
  const { settings, provider, agent, store } = workplace;
  return {
    introduction: introduction(workplace),
    isOffline: settings.vendor.name === "offline",
    provider: provider.name,
    defaultModel: agent.model,
    limits: agent.limits,
    contextMax: (model) => providerOf(agent, model).capabilities(model).contextTokens,
    async open(id) {
      const vendorWords = createVendorWords();
      return localSession(await openSession(workplace, id, vendorWords), { vendorWords, context: agent.context, labelled });
    },
    list: (limit) => store.index.list(localScope, { limit }),
    resumeCommand: (id) => `${commandName()} chat --resume ${id}${agentFlags(settings)}`,
  };
}

/** The provider of the chain that has this model; the first one for a model that a person named. */
const providerOf = ({ chain, provider }: Agent, model: string): ModelProvider =>
  chain.find((link) => link.model === model)?.provider ?? provider;

interface LocalParts {
  readonly vendorWords: VendorWords;
  readonly context: ContextEngine | undefined;
  readonly labelled: InputLabels;
}

function localSession(session: AgentSession, { vendorWords, context, labelled }: LocalParts): ChatSession {
  const ending = async (stream: ExecuteStream): Promise<AnswerEnd> => {
    const result = await stream.result();
    const vendorMessage = result.error && vendorWords.of(result.error);
    return vendorMessage === undefined ? result : { ...result, vendorMessage };
  };
  return {
    id: session.id,
    get model() {
      return session.model;
    },
    get messages() {
      return session.messages;
    },
    get pendingToolCalls() {
      return session.pendingToolCalls;
    },
    get pendingApprovals() {
      return session.pendingApprovals;
    },
    get usage() {
      return session.totalUsage;
    },
    get cost() {
      return session.totalCost;
    },
    get contextTokens() {
      return session.contextTokens;
    },
    get state() {
      return session.isInterrupted ? "cut-off" : "resting";
    },
    outlivesChat: false,
    get isKept() {
      return session.messages.length > 0;
    },
    subscribe: (listener) => session.subscribe((events) => listener.events(events)),
    say: (input, options) => ending(execute(session, input, { mode: "steer", ...labelled, ...options })),
    async answer({ results, decisions }) {
      for (const { callKey, ...decision } of decisions) await session.decide(callKey, decision);
      return ending(results.length > 0 ? execute(session, results) : resume(session));
    },
    proceed: () => ending(resume(session)),
    abort: async () => void (await session.abort("stopped by the user")),
    compact() {
      context?.compact?.(session.id);
      return context?.compact !== undefined;
    },
    leave: () => session[Symbol.asyncDispose](),
  };
}
