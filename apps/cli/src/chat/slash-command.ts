import { agentLines } from "../screen/agent-tree.ts";
import { costText, usageParts } from "../screen/footer-lines.ts";
import type { Screen } from "../screen/screen.ts";
import { summaryLine } from "../summary-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import type { ChatLimits, ChatPlace } from "./chat-place.ts";
import type { Conversation } from "./conversation.ts";

/** What a slash command may do to the chat. */
export interface SlashHost {
  readonly place: ChatPlace;
  readonly conversation: Conversation;
  readonly model: string;
  useModel(model: string): void;
  /** Leaves the session and begins another. */
  startNew(): Promise<void>;
  quit(): void;
}

const help = [
  "/budget         what the session has used, its children included, and the limits of an answer",
  "/model [name]   show or choose the model of the next messages",
  "/compact        summarise the older messages before the next answer",
  "/new            begin a new session",
  "/agents         list the agents that worked for this session, and what they spent",
  "/sessions       list the latest sessions",
  "/help           this list",
  "/quit           leave (also Ctrl+C twice, Ctrl+D)",
  "Enter sends; while the agent works it steers: the words join before the next model call.",
  "Shift+Enter or a \\ at the end makes a new line. Esc stops and keeps the partial answer.",
  "Ctrl+T shows or hides thinking, Ctrl+O the details of tools, from the next block on. Up brings back what was sent.",
];

const names = ["agents", "budget", "compact", "help", "model", "new", "quit", "sessions"] as const;
type Name = (typeof names)[number] | "exit";

/** True when the words are a slash command; it is then carried out. A path such as `/tmp/x` is none. */
export async function runSlashCommand(text: string, host: SlashHost): Promise<boolean> {
  const match = /^\/([a-z?]*)(?:\s+(.*))?$/i.exec(text.trim());
  if (!match) return false;
  const [, typed = "", rest = ""] = match;
  const model = rest.trim();
  const name = nameOf(typed.toLowerCase());
  const { conversation, place } = host;
  switch (name) {
    case "agents":
      conversation.notice("quiet", agentsText(conversation));
      return true;
    case "help":
      conversation.notice("quiet", help);
      return true;
    case "model":
      if (model !== "") host.useModel(model);
      conversation.notice("quiet", [
        `${place.provider} ${oneLine(model || host.model, 80)} ${model === "" ? "· /model <name> chooses another" : "from the next message on"}`,
      ]);
      return true;
    case "budget":
      conversation.notice("quiet", budgetLines(conversation.screen, place.limits));
      return true;
    case "compact":
      conversation.notice("quiet", [
        conversation.session.compact()
          ? "The older messages are summarised before the next answer, where that makes room. People still see them."
          : "The server decides by itself when older messages are summarised.",
      ]);
      return true;
    case "new":
      await host.startNew();
      return true;
    case "sessions":
      conversation.notice("quiet", await latest(place));
      return true;
    case "quit":
    case "exit":
      host.quit();
      return true;
    case undefined:
      conversation.notice("warning", [`There is no command /${oneLine(typed, 40)}. /help lists them.`]);
      return true;
    default:
      return name satisfies never;
  }
}

/** The name itself, or the only one that begins so. */
function nameOf(typed: string): Name | undefined {
  if (typed === "?") return "help";
  if (typed === "exit") return "exit";
  const fitting = names.filter((name) => name.startsWith(typed));
  return typed !== "" && fitting.length === 1 ? fitting[0] : names.find((name) => name === typed);
}

function agentsText({ screen }: Conversation): readonly string[] {
  return screen.agents.length === 0 ? ["No other agent has worked for this session."] : agentLines(screen.agents);
}

/** What the session has used with its children, and what each run may use. */
export function budgetLines({ usage, cost }: Pick<Screen, "usage" | "cost">, limits: ChatLimits | undefined): readonly string[] {
  const spent = [...usageParts(usage), ...(cost ? [costText(cost.totalUsd) + (cost.partial ? "+" : "")] : [])];
  const used = spent.length === 0 ? "Nothing is used yet." : `Used so far, children included: ${spent.join(" · ")}.`;
  if (!limits) return [used, "The limits are those of the server's agent."];
  const { tokensMax, costUsdMax } = limits;
  const each = [...(tokensMax > 0 ? [`${tokensMax} tokens`] : []), ...(costUsdMax > 0 ? [costText(costUsdMax)] : [])];
  return [used, each.length === 0 ? "There is no limit of tokens or money." : `Each answer may use ${each.join(" and ")}.`];
}

async function latest(place: ChatPlace): Promise<readonly string[]> {
  const found = await place.list(10);
  return found.length === 0 ? ["There are no sessions yet."] : [...found.map(summaryLine), `${place.resumeCommand("<id>")} continues one.`];
}
