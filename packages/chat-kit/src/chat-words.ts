import { doubtfulHosts } from "@loopwright/client";
import type { JsonObject } from "@loopwright/core/protocol";
import { shownArgsCharsMax } from "./chat-limits.ts";

/** What the bot writes itself. */
export const words = {
  unlinked: (sign = "/"): string =>
    `You are not linked to a user here. Take a code on the page or with \`loopwright link\`, and send me \`${sign}link\` and the code in a private chat.`,
  linkInPrivate: "Send me the code in a private chat, so that no other person reads it.",
  linkWithCode: (sign = "/"): string => `Send \`${sign}link\` and the code that the page or \`loopwright link\` shows.`,
  linked: (user: string): string => `You are linked to the user \`${plain(user)}\`.`,
  wrongCode: "This code is not known, was used before, or is too old. Take another one.",
  tooManyCodes: "There were too many wrong codes. Try again in ten minutes.",
  unlinkedNow: "The link is removed.",
  neverLinked: "No code has linked you, so there is no link to remove.",
  fresh: "The next message begins a new session.",
  session: (id: string): string => `This chat shows the session \`${id}\`. In a terminal: \`loopwright chat --session ${id}\`.`,
  noSession: "This chat has no session yet. Your first message begins one.",
  opened: (id: string): string => `This chat shows the session \`${id}\` from now on.`,
  notOpened: "You have no session with this id.",
  openWithId: (sign = "/"): string => `Send \`${sign}open\` and the id of a session.`,
  stopping: "Stopping.",
  nothingRuns: "Nothing runs.",
  help: (sign = "/"): string =>
    "`/new` begins a new session, `/stop` stops the answer, `/session` names the session, `/open <id>` shows another one here, `/link <code>` and `/unlink` are about you.".replaceAll(
      "`/",
      `\`${sign}`,
    ),
  otherTeam: "The session of this chat belongs to another team than yours.",
  failed: (reason: string): string => `The answer failed: ${plain(reason)}`,
  refused: (reason: string): string => `This was not taken: ${plain(reason)}`,
  tooMany: "There are too many requests. Try again later.",
  stopped: "The answer was stopped.",
  closed: "The session is closed. The next message begins a new one.",
  working: "Working on it …",
  ended: "The run has ended without an answer.",
  elsewhere: (text: string): string => `*From another place:*\n\n${text}`,
  needsClient: (tools: string): string => `The run waits for an answer that the page or a terminal gives (${tools}).`,
  rest: "The whole answer is in the file.",
  streaming: (text: string): string => `${text}\n\n…`,
  again: "The server did not answer. Press again in a moment.",
  decidedBefore: "This was decided before.",
  allowed: "Allowed.",
  denied: "Denied.",
  decided: (toolName: string, decision: "allow" | "deny", by: string | undefined): string =>
    `${decision === "allow" ? "Allowed" : "Denied"}${by === undefined ? "" : ` by \`${plain(by)}\``}: \`${plain(toolName)}\``,
};

/** A foreign text on one line, without the characters that are markup. */
function plain(text: string): string {
  return text.replace(/[\s`]+/g, " ").slice(0, 500);
}

/** A text whose characters without a shape are escaped: they could show a person other words than a program reads. */
const visible = (text: string): string =>
  text.replace(
    /[\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** The question whether a call may run, as far as it fits a message. */
export function approvalQuestion(call: { readonly toolName: string; readonly args: JsonObject; readonly reason?: string }): {
  readonly markdown: string;
  /** The arguments, where they are too long for the message. */
  readonly file: string | undefined;
} {
  const json = visible(JSON.stringify(call.args, null, 2));
  const isShown = json.length <= shownArgsCharsMax;
  const hosts = doubtfulHosts(call.args).map(
    ({ written, real }) =>
      `The host \`${visible(plain(written))}\` may be taken for another one${real === undefined ? "" : `: it is \`${plain(real)}\``}.`,
  );
  const fence = "`".repeat(Math.max(3, ...[...json.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const lines = [
    `**May \`${plain(call.toolName)}\` run?**`,
    ...(call.reason === undefined ? [] : [plain(call.reason)]),
    isShown ? `${fence}json\n${json}\n${fence}` : "Its arguments are in the file above.",
    ...hosts,
  ];
  return { markdown: lines.join("\n\n"), file: isShown ? undefined : json };
}
