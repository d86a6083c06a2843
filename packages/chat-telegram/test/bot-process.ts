/** A bot in a process of its own, over HTTP with an internal token: `bot-process.ts <server> <Bot API> <memory>`, tokens in the environment. */
import { actingClients, openChatMemory } from "@loopwright/chat-kit";
import { openTelegram } from "@loopwright/chat-telegram";

const [url = "", apiRoot = "", path = ""] = process.argv.slice(2);
const { INTERNAL_TOKEN: internalToken = "", TELEGRAM_BOT_TOKEN: token = "" } = process.env;
await openTelegram({
  ...{ token, apiRoot },
  memory: openChatMemory(path),
  clientFor: actingClients({ url, token: internalToken }),
  allow: { "11": { user: "anne", scope: "garden" } },
  report: (message) => console.error(message),
});
console.log("ready");
