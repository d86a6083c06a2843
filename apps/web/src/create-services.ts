import { createClient } from "@loopwright/client";
import { createAgentList } from "./app/agent-list.ts";
import { createApprovalRules } from "./app/approval-rules.ts";
import { createDrafts } from "./app/drafts.ts";
import { browserKeptText } from "./app/kept-text.ts";
import { createNotices } from "./app/notices.ts";
import type { Services } from "./app/services.ts";
import { createSessionList } from "./app/session-list.ts";
import { createThemeChoice } from "./app/theme.ts";

/** The services of a page that talks to the server it came from, under whatever path that is. */
export function createServices(): Services {
  const url = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const kept = browserKeptText();
  const token = kept.get("token");
  const server = { url, ...(token === undefined ? {} : { token }) };
  const client = createClient(server);
  return {
    server,
    client,
    kept,
    drafts: createDrafts(kept),
    theme: createThemeChoice(kept, document.documentElement),
    notices: createNotices(),
    list: createSessionList(client.sessions),
    agents: createAgentList(() => client.agents()),
    approvalRules: createApprovalRules(client.approvals),
  };
}
