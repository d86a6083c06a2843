/*
 * Owns: the channels of a workspace for tests, and which requests about them Slack refuses.
 */
import { textOfBlock } from "../rich-text.ts";

/** A message or a file that the bot has sent. */
export interface SentInSlack {
  readonly ts: string;
  readonly channel: string;
  readonly thread?: string;
  /** The text of its blocks. */
  text: string;
  blocks: readonly unknown[];
  buttons: readonly { readonly label: string; readonly id: string }[];
  readonly file?: { readonly name: string; readonly text: string };
  /** Texts that it had before. */
  readonly earlier: string[];
}

/** The parameters of a request. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the Web API answers. */
export type Answer = { readonly ok: true; readonly [field: string]: unknown } | { readonly ok: false; readonly error: string };

export const refusal = (error: string): Answer => ({ ok: false, error });

/** The channels of a workspace: what is in them, and what the bot has sent. */
export interface FakeWorkspace {
  readonly sent: SentInSlack[];
  /** What one person alone has seen. */
  readonly whispers: { readonly channel: string; readonly user: string; readonly text: string }[];
  readonly reactions: { readonly channel: string; readonly ts: string; readonly name: string }[];
  readonly people: Map<string, string>;
  /** The messages of each channel that the bot is in. */
  readonly channels: Map<string, Set<string>>;
  readonly archived: Set<string>;
  readonly deleted: Set<string>;
  readonly uploads: Map<string, { readonly name: string; readonly sizeBytes: number; text: string | undefined }>;
  nextTs(): string;
}

/** A workspace without channels. */
export function fakeWorkspace(): FakeWorkspace {
  let count = 0;
  return {
    ...{ sent: [], whispers: [], reactions: [], people: new Map(), channels: new Map() },
    ...{ archived: new Set(), deleted: new Set(), uploads: new Map() },
    nextTs: () => `1700000000.${String(++count).padStart(6, "0")}`,
  };
}

const blocksMax = 50;
const blockCharsMax = 13_200;
const textCharsMax = 40_000;
const labelCharsMax = 75;

type Method = (workspace: FakeWorkspace, fields: Fields) => Answer;

const methods: { readonly [name: string]: Method } = {
  "chat.postMessage": (workspace, fields) =>
    wrongChat(workspace, fields) ?? wrongContent(fields) ?? { ok: true, channel: fields["channel"], ts: keep(workspace, fields).ts },
  "chat.postEphemeral"(workspace, fields) {
    const wrong = wrongChat(workspace, fields) ?? wrongContent(fields);
    if (wrong) return wrong;
    if (!workspace.people.has(String(fields["user"]))) return refusal("user_not_in_channel");
    workspace.whispers.push({ channel: String(fields["channel"]), user: String(fields["user"]), text: String(fields["text"]) });
    return { ok: true, message_ts: workspace.nextTs() };
  },
  "chat.update"(workspace, fields) {
    const wrong = wrongChat(workspace, fields) ?? wrongContent(fields);
    if (wrong) return wrong;
    const found = workspace.sent.find(({ ts, channel }) => ts === fields["ts"] && channel === fields["channel"]);
    if (workspace.deleted.has(String(fields["ts"]))) return refusal("message_not_found");
    if (!found)
      return refusal(
        workspace.channels.get(String(fields["channel"]))?.has(String(fields["ts"])) ? "cant_update_message" : "message_not_found",
      );
    found.earlier.push(found.text);
    Object.assign(found, contentOf(fields));
    return { ok: true, channel: fields["channel"], ts: found.ts };
  },
  "reactions.add"(workspace, fields) {
    const reaction = { channel: String(fields["channel"]), ts: String(fields["timestamp"]), name: String(fields["name"]) };
    if (!workspace.channels.get(reaction.channel)?.has(reaction.ts)) return refusal("message_not_found");
    if (workspace.reactions.some((one) => JSON.stringify(one) === JSON.stringify(reaction))) return refusal("already_reacted");
    workspace.reactions.push(reaction);
    return { ok: true };
  },
  "users.info"(workspace, fields) {
    const name = workspace.people.get(String(fields["user"]));
    return name === undefined
      ? refusal("user_not_found")
      : { ok: true, user: { id: fields["user"], name, profile: { display_name: name } } };
  },
  "files.getUploadURLExternal"(workspace, fields) {
    const sizeBytes = Number(fields["length"]);
    if (!(sizeBytes > 0) || String(fields["filename"] ?? "") === "") return refusal("invalid_arguments");
    const id = `F${workspace.uploads.size + 1}`;
    workspace.uploads.set(id, { name: String(fields["filename"]), sizeBytes, text: undefined });
    return { ok: true, file_id: id, upload_url: "" };
  },
  "files.completeUploadExternal"(workspace, fields) {
    const channel = String(fields["channel_id"]);
    const wrong = wrongChat(workspace, { channel, thread_ts: fields["thread_ts"] });
    if (wrong) return wrong;
    const files = listOf(fields["files"]) as readonly { readonly id: string }[];
    const uploads = files.map(({ id }) => workspace.uploads.get(id));
    if (uploads.some((upload) => upload?.text === undefined)) return refusal("file_not_found");
    for (const upload of uploads)
      keep(workspace, { channel, thread_ts: fields["thread_ts"] }, { name: upload?.name ?? "", text: upload?.text ?? "" });
    return { ok: true, files };
  },
};

/** A request about the workspace, checked as Slack checks it. */
export function answerInWorkspace(workspace: FakeWorkspace, method: string, fields: Fields): Answer {
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  return run ? run(workspace, fields) : refusal("unknown_method");
}

function wrongChat(workspace: FakeWorkspace, fields: Fields): Answer | undefined {
  const messages = workspace.channels.get(String(fields["channel"]));
  if (!messages) return refusal("channel_not_found");
  if (workspace.archived.has(String(fields["channel"]))) return refusal("is_archived");
  const thread = fields["thread_ts"];
  return thread === undefined || messages.has(String(thread)) ? undefined : refusal("thread_not_found");
}

const listOf = (value: unknown): readonly unknown[] => {
  const list: unknown = typeof value === "string" ? JSON.parse(value) : (value ?? []);
  return Array.isArray(list) ? list : [];
};

interface Block {
  readonly type: string;
  readonly elements?: readonly unknown[];
}

function wrongContent(fields: Fields): Answer | undefined {
  const blocks = listOf(fields["blocks"]) as readonly Block[];
  const text = String(fields["text"] ?? "");
  if (text === "" && blocks.length === 0) return refusal("no_text");
  if (text.length > textCharsMax) return refusal("msg_too_long");
  if (/<[!@#][^>]*>/.test(text)) return refusal("a_text_that_names_people");
  if (blocks.length > blocksMax || !blocks.every(isBlock)) return refusal("invalid_blocks");
  return JSON.stringify(blocks.map(textIn)).length > blockCharsMax ? refusal("msg_blocks_too_long") : undefined;
}

const textIn = (block: Block): string => (block.type === "rich_text" ? textOfBlock(block as Parameters<typeof textOfBlock>[0]) : "");

interface Element {
  readonly type: string;
  readonly text?: unknown;
  readonly url?: unknown;
  readonly style?: unknown;
  readonly indent?: number;
  readonly action_id?: string;
  readonly elements?: readonly Element[];
}

function isBlock(block: Block): boolean {
  const elements = (block.elements ?? []) as readonly Element[];
  if (elements.length === 0) return false;
  if (block.type === "rich_text") return elements.every(isRichElement);
  const ids = elements.map(({ action_id: id }) => id);
  return block.type === "actions" && new Set(ids).size === ids.length && elements.every(isButton);
}

function isRichElement({ type, elements = [], style, indent = 0 }: Element): boolean {
  if (elements.length === 0) return false;
  if (type === "rich_text_list")
    return (
      (style === "bullet" || style === "ordered") &&
      indent <= 8 &&
      elements.every((one) => one.type === "rich_text_section" && isRichElement(one))
    );
  if (!["rich_text_section", "rich_text_preformatted", "rich_text_quote"].includes(type)) return false;
  return elements.every((one) =>
    one.type === "link"
      ? typeof one.url === "string" && /^https?:/.test(one.url)
      : one.type === "text" && typeof one.text === "string" && one.text !== "",
  );
}

function isButton({ type, text, action_id: id = "", style }: Element): boolean {
  const label = (text as { readonly type?: string; readonly text?: string } | undefined) ?? {};
  const isLabel = label.type === "plain_text" && (label.text ?? "") !== "" && (label.text ?? "").length <= labelCharsMax;
  return type === "button" && isLabel && id !== "" && id.length <= 255 && [undefined, "primary", "danger"].includes(style as undefined);
}

function contentOf(fields: Fields): Pick<SentInSlack, "text" | "blocks" | "buttons"> {
  const blocks = listOf(fields["blocks"]) as readonly Block[];
  const rich = blocks.filter(({ type }) => type === "rich_text");
  const text = rich.length > 0 ? rich.map(textIn).join("\n") : String(fields["text"] ?? "");
  const buttons = blocks
    .filter(({ type }) => type === "actions")
    .flatMap(({ elements = [] }) => elements as readonly Element[])
    .map(({ text: label, action_id: id = "" }) => ({ label: String((label as { readonly text?: string }).text), id }));
  return { text, blocks, buttons };
}

function keep(workspace: FakeWorkspace, fields: Fields, file?: { readonly name: string; readonly text: string }): SentInSlack {
  const [channel, thread] = [String(fields["channel"]), fields["thread_ts"]];
  const sent: SentInSlack = {
    ...{ ts: workspace.nextTs(), channel, ...contentOf(fields), earlier: [] },
    ...(thread === undefined ? {} : { thread: String(thread) }),
    ...(file ? { file } : {}),
  };
  workspace.sent.push(sent);
  workspace.channels.get(channel)?.add(sent.ts);
  return sent;
}
