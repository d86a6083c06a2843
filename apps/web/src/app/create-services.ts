import { createClient } from "@loopwright/client";
import { createDrafts } from "../session/drafts.ts";
import { createSessionList } from "../sidebar/session-list.ts";
import { createAgentList } from "./agent-list.ts";
import { browserKeptText } from "./kept-text.ts";
import { createNotices } from "./notices.ts";
import type { Services } from "./services.ts";
import { createThemeChoice } from "./theme.ts";

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
  };
}
