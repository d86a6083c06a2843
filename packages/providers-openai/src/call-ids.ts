import type { AssistantMessage, ToolCallPart, ToolResultMessage } from "@loopwright/core";
import { callsOf } from "@loopwright/core";

/** What ids of calls a wire accepts. */
export interface CallIdRule {
  readonly pattern: RegExp;
  readonly charsMax: number;
  /** Where set, a derived id is exactly this long and of letters and digits alone. */
  readonly exactChars?: number;
}

/** Chat completions refuse ids of more than 40 characters. */
export const chatCallIds: CallIdRule = { pattern: /^[A-Za-z0-9_-]{1,40}$/, charsMax: 40 };
/** Responses allow 64. */
export const responsesCallIds: CallIdRule = { pattern: /^[A-Za-z0-9_-]{1,64}$/, charsMax: 64 };
/** Mistral takes exactly nine letters and digits. */
export const nineCallIds: CallIdRule = { pattern: /^[A-Za-z0-9]{9}$/, charsMax: 9, exactChars: 9 };

/** Gives the calls of one request their ids: the vendor's own where it fits and is new, else one derived from the call key, the same for call and result. */
export interface CallIds {
  /** The ids of a message's calls, in order; the results that follow are looked up among them. */
  open(message: AssistantMessage): readonly string[];
  /** The id of the call that a result answers. */
  of(result: ToolResultMessage): string;
}

/** Fresh ids for one request. Constant cost per call. */
export function createCallIds(rule: CallIdRule): CallIds {
  const taken = new Set<string>();
  let opened = new Map<string, string>();

  const idFor = (call: ToolCallPart): string => {
    let id = rule.pattern.test(call.id) ? call.id : derive(call.callKey, rule);
    for (let again = 0; taken.has(id); again++) id = derive(again === 0 ? call.callKey : `${call.callKey}.${again}`, rule);
    taken.add(id);
    return id;
  };

  return {
    open: (message) => {
      opened = new Map();
      return callsOf(message).map((call) => {
        const id = idFor(call);
        opened.set(call.callKey, id);
        if (!opened.has(call.id)) opened.set(call.id, id);
        return id;
      });
    },
    of: (result) =>
      (result.callKey === undefined ? undefined : opened.get(result.callKey)) ??
      opened.get(result.toolCallId) ??
      derive(result.toolCallId, rule),
  };
}

function derive(callKey: string, rule: CallIdRule): string {
  if (rule.exactChars !== undefined) return hashOf(callKey).padStart(rule.exactChars, "0").slice(-rule.exactChars);
  const id = `call_${callKey.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
  return id.length <= rule.charsMax ? id : `call_${hashOf(callKey)}`;
}

/** 64 bits in base 36; FNV-1a over two lanes. Guards nothing: it only has to differ. */
function hashOf(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x9dc5811c;
  for (let at = 0; at < text.length; at++) {
    low = Math.imul(low ^ text.charCodeAt(at), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(text.length - 1 - at), 0x01000193) ^ (low >>> 7);
  }
  return (high >>> 0).toString(36).padStart(7, "0") + (low >>> 0).toString(36).padStart(7, "0");
}

/** A name as the wire takes it: a model may have called a tool by a name that no tool has. */
export function toolNameOf(name: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** The arguments as JSON text; what could not be read as an object is kept inside one, because many servers parse what they are sent back. */
export function argumentsOf(call: ToolCallPart): string {
  return JSON.stringify(call.problem === undefined ? call.args : { invalid_arguments: call.argsText ?? "" });
}
