import type { ClientOptions, LoopwrightClient } from "@loopwright/client";
import { type Context, createContext, useContext } from "react";
import type { Account } from "./account.ts";
import type { AgentList } from "./agent-list.ts";
import type { ApprovalRules } from "./approval-rules.ts";
import type { Drafts } from "./drafts.ts";
import type { KeptText } from "./kept-text.ts";
import type { Notices } from "./notices.ts";
import type { SessionList } from "./session-list.ts";
import type { ThemeChoice } from "./theme.ts";

/** What every part of the page can reach. Made once for each user and team. */
export interface Services {
  /** What clients of the server are made with. */
  readonly server: Pick<ClientOptions, "url" | "token" | "scope">;
  readonly client: LoopwrightClient;
  readonly kept: KeptText;
  readonly account: Account;
  readonly drafts: Drafts;
  readonly theme: ThemeChoice;
  readonly notices: Notices;
  readonly list: SessionList;
  readonly agents: AgentList;
  readonly approvalRules: ApprovalRules;
  /** The models that conversations which were begun here continue with, by session. */
  readonly models: Map<string, string>;
}

/** Given by the page around everything. */
export const ServicesContext: Context<Services | undefined> = createContext<Services | undefined>(undefined);

/** The services of the page around. */
export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error("Rendered outside of the page.");
  return services;
}
