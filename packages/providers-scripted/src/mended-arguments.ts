import type { OfflineReply } from "./offline-answer.ts";

const asked = /^These arguments for the tool [\s\S]*?\nArguments: ([\s\S]*)$/;

/** The answer to a request to repair arguments that were cut off; `undefined`: this is no such request. */
export function mendedArguments(text: string): OfflineReply | undefined {
  const broken = asked.exec(text)?.[1];
  return broken === undefined ? undefined : { text: closed(broken) };
}

/** The JSON text with what is open at its end closed; what cannot be closed, such as half a name, is taken away. */
function closed(text: string): string {
  for (let end = text.length; end > 0; end--) {
    const tried = text.slice(0, end) + endingOf(text.slice(0, end));
    if (isJson(tried)) return tried;
  }
  return "{}";
}

function endingOf(text: string): string {
  const open: string[] = [];
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (isString && letter === "\\") at += 1;
    else if (letter === '"') isString = !isString;
    else if (isString) continue;
    else if (letter === "{") open.push("}");
    else if (letter === "[") open.push("]");
    else if (letter === "}" || letter === "]") open.pop();
  }
  return (isString ? '"' : "") + open.reverse().join("");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
