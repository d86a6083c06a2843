/** A bot in a process of its own, over HTTP with an internal token: `bot-process.ts <server> <Web API> <memory>`, tokens in the environment. */
import { actingClients, openChatMemory } from "@loopwright/chat-kit";
import { openSlack } from "@loopwright/chat-slack";

const [url = "", apiUrl = "", path = ""] = process.argv.slice(2);
const { INTERNAL_TOKEN: internalToken = "", SLACK_BOT_TOKEN: botToken = "", SLACK_APP_TOKEN: appToken = "" } = process.env;
await openSlack({
  ...{ botToken, appToken, apiUrl },
  memory: openChatMemory(path),
  clientFor: actingClients({ url, token: internalToken }),
  allow: { U11: { user: "anne", scope: "garden" } },
  report: (message) => console.error(message),
});
