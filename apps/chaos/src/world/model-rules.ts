/* The rules of a strict vendor for the messages of one request, in the words of chat completions. */

interface WireCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

export interface WireMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly WireCall[];
  readonly tool_call_id?: string;
}

/** What a strict vendor would refuse about the messages; `undefined`: nothing. */
export function refusalOf(messages: readonly WireMessage[]): string | undefined {
  if (messages.length === 0) return "no messages";
  let owed: string[] = [];
  for (const [index, message] of messages.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: callId } = message;
    if (role === "tool") {
      const place = owed.indexOf(callId ?? "");
      if (place < 0) return `message ${index} answers a call that is not open`;
      owed = owed.filter((_, at) => at !== place);
      if (typeof content !== "string" && !Array.isArray(content)) return `message ${index} has no content`;
      continue;
    }
    if (owed.length > 0) return `message ${index} comes before the results of ${owed.length} calls`;
    if (role === "assistant") {
      if (calls && calls.length === 0) return `message ${index} has an empty list of calls`;
      if (!calls && isEmpty(content)) return `message ${index} is empty`;
      for (const call of calls ?? []) {
        if (!call.id || !call.function?.name) return `message ${index} has a call without id or name`;
        if (!isObject(call.function.arguments)) return `message ${index} has arguments that are no JSON object`;
        if (owed.includes(call.id)) return `message ${index} has the id ${call.id} twice`;
        owed.push(call.id);
      }
    } else if (role === "user") {
      if (isEmpty(content)) return `message ${index} is empty`;
    } else if (role !== "system" && role !== "developer") return `message ${index} has the role ${role}`;
  }
  if (owed.length > 0) return `the results of ${owed.length} calls are missing`;
  return messages.at(-1)?.role === "assistant" ? "the last message is the assistant's" : undefined;
}

const isEmpty = (content: WireMessage["content"]): boolean => content === undefined || content === null || content.length === 0;

function isObject(text: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The plain text of a message. */
export function textOfWire({ content }: WireMessage): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");
}
