import { createClient } from "@loopwright/client";
import { createAccount } from "./app/account.ts";
import { createAgentList } from "./app/agent-list.ts";
import { createApprovalRules } from "./app/approval-rules.ts";
import { createDrafts } from "./app/drafts.ts";
import { browserKeptText } from "./app/kept-text.ts";
import { createNotices } from "./app/notices.ts";
import type { Services } from "./app/services.ts";
import { createSessionList } from "./app/session-list.ts";
import { createThemeChoice } from "./app/theme.ts";

/**
 * The services of a page that talks to the server it came from, under whatever path that is, as the user and in the team that the browser has kept. `begin` makes them
 * anew, and shows a notice.
 */
export function createServices(begin: (words?: string) => void): Services {
  const url = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const kept = browserKeptText();
  const token = kept.get("token");
  const scope = kept.get("scope");
  const server = { url, ...(token === undefined ? {} : { token }), ...(scope === undefined ? {} : { scope }) };
  const client = createClient(server);
  return {
    server,
    client,
    kept,
    account: createAccount({ url, kept, client, begin }),
    drafts: createDrafts(kept, scope),
    theme: createThemeChoice(kept, document.documentElement),
    notices: createNotices(),
    list: createSessionList(client.sessions),
    agents: createAgentList(() => client.agents()),
    approvalRules: createApprovalRules(client.approvals),
    models: new Map(),
  };
}
