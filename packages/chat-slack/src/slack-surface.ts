import type { ChatButton, ChatSurface } from "@loopwright/chat-kit";
import { AgentError } from "@loopwright/core/protocol";
import type { WebClient } from "@slack/web-api";
import { richText, textOfBlock } from "./rich-text.ts";
import { codeOf, translated } from "./slack-api.ts";
import { interimAfterMs, markdownCharsMax, noticeCharsMax, streamEveryMs } from "./slack-limits.ts";

/** The place of a chat: the channel and, but for the main line of a direct message, the thread. */
export const placeOf = (channel: string, thread: string | undefined): string => (thread === undefined ? channel : `${channel}/${thread}`);

/** Where a message of a place goes. */
export function targetOf(place: string): { readonly channel: string; readonly thread: { readonly thread_ts?: string } } {
  const [channel = "", thread] = place.split("/");
  return { channel, thread: thread === undefined ? {} : { thread_ts: thread } };
}

/** A text in which Slack finds no mention and no link. */
export const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** What a message must not be changed for any more, or is not there for. */
const unchangeable: ReadonlySet<string | undefined> = new Set(["message_not_found", "cant_update_message", "edit_window_closed"]);

/** Chats of Slack through one bot. */
export function slackSurface(api: WebClient): ChatSurface {
  return {
    ...{ name: "slack", textCharsMax: markdownCharsMax, interimAfterMs, streamEveryMs, commandSign: "!" },
    send: (place, markdown, buttons) =>
      translated(async () => {
        const { channel, thread } = targetOf(place);
        const options = { unfurl_links: false, unfurl_media: false };
        const { ts } = await api.chat.postMessage({ channel, ...thread, ...contentOf(markdown, buttons), ...options });
        if (ts === undefined) throw new AgentError("NOT_READY", { message: "Slack named no message." });
        return ts;
      }),
    edit: (place, message, markdown) =>
      translated(async () => {
        try {
          await api.chat.update({ channel: targetOf(place).channel, ts: message, ...contentOf(markdown, undefined) });
          return true;
        } catch (error) {
          if (unchangeable.has(codeOf(error))) return false;
          throw error;
        }
      }),
    sendFile: (place, { name, text }) =>
      translated(async () => {
        const { channel, thread } = targetOf(place);
        const file = { filename: name, title: name, content: text };
        await (thread.thread_ts === undefined
          ? api.filesUploadV2({ channel_id: channel, ...file })
          : api.filesUploadV2({ channel_id: channel, thread_ts: thread.thread_ts, ...file }));
      }),
    // Bots have no such sign in Slack: a reaction shows that a message has arrived.
    showWorking: async () => {},
  };
}

/** Blocks, and the text that notifications show. */
function contentOf(markdown: string, buttons: readonly ChatButton[] | undefined) {
  const block = richText(markdown);
  const text = escaped(textOfBlock(block).slice(0, noticeCharsMax).toWellFormed());
  const actions = (buttons ?? []).map(({ id, label, isDangerous = false }) => ({
    ...{ type: "button", text: { type: "plain_text", text: label }, action_id: id, value: id },
    ...{ style: isDangerous ? "danger" : "primary" },
  }));
  return { text, blocks: actions.length === 0 ? [block] : [block, { type: "actions", elements: actions }] };
}
