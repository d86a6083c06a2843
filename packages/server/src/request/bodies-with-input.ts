/*
 * Owns: bodies with an input. Core checks the input, with the same messages as in process. The schemas check the other fields, and find the wrong field
 * in a refused input. The documentation of a route shows the complete schemas of `schemas/`.
 */
import { AgentError, isAgentError } from "@loopwright/core";
import { type CheckedInput, checkInput } from "@loopwright/core/protocol";
import { z } from "zod";
import type { ExecuteRequest, MessageRequest } from "../schemas/index.ts";
import { executeInput } from "../schemas/input.ts";
import { executeFields, messageContent, messageFields, oneSource, regenerateId, toolResults } from "../schemas/requests.ts";
import { deepestIssue } from "./deepest-schema-issue.ts";

interface WithInput {
  readonly input: CheckedInput;
}

export type CheckedExecuteRequest = Omit<ExecuteRequest, "input"> & WithInput;
export type CheckedMessageRequest = Omit<MessageRequest, "input" | "message" | "regenerate"> & WithInput;
export type CheckedResultsRequest = WithInput;

interface InputField {
  readonly field: string;
  /** The schema that finds the field of a flaw. */
  readonly documented: z.ZodType;
  /** True if the field takes this kind of input. Default: it takes all. */
  readonly isKind?: (input: CheckedInput) => boolean;
}

type Refused = z.core.$RefinementCtx;

/** Returns the input if core and the field accept it; otherwise adds the flaw to `refused`. */
function inputIn({ field, documented, isKind = () => true }: InputField, value: unknown, refused: Refused): CheckedInput {
  try {
    // The depth, the keys and the numbers of the whole body were checked when it was parsed.
    const input = checkInput(field === "regenerate" ? { regenerate: value } : value, { isScanned: true });
    if (isKind(input)) return input;
    throw new AgentError("INPUT_INVALID", { message: "The input cannot be used: the field does not take this kind of value." });
  } catch (error) {
    if (!isAgentError(error)) throw error;
    const { path, message } = deepestIssue(documented.safeParse(value).error?.issues ?? []);
    refused.issues.push({ code: "custom", input: value, path: [field, ...path], message, params: { refusal: error } });
    return z.NEVER;
  }
}

const isMessage = ({ value, results }: CheckedInput): boolean =>
  results === undefined && (typeof value === "string" || !("regenerate" in value));
const isShortId = ({ value }: CheckedInput): boolean =>
  regenerateId.safeParse((value as { readonly regenerate: unknown }).regenerate).success;

const anyInput: InputField = { field: "input", documented: executeInput };
/** The body of a message has exactly one of these fields. */
const sources: readonly InputField[] = [
  anyInput,
  { field: "message", documented: messageContent, isKind: isMessage },
  { field: "regenerate", documented: regenerateId, isKind: isShortId },
];
const results: InputField = { field: "results", documented: toolResults, isKind: (input) => input.results !== undefined };

const unchecked = z.unknown().optional();

export const checkedExecuteRequest: z.ZodType<CheckedExecuteRequest> = z
  .object({ ...executeFields, input: unchecked })
  .transform(({ input, ...rest }, refused) => ({ ...rest, input: inputIn(anyInput, input, refused) }));

export const checkedMessageRequest: z.ZodType<CheckedMessageRequest> = z
  .object({ ...messageFields, input: unchecked, message: unchecked, regenerate: unchecked })
  .transform((body, refused) => {
    const { input: _, message: __, regenerate: ___, ...rest } = body;
    const given: { readonly [field: string]: unknown } = body;
    const [source = anyInput, ...more] = sources.filter(({ field }) => given[field] !== undefined);
    if (more.length > 0 || given[source.field] === undefined) {
      refused.issues.push({ code: "custom", input: body, path: [], message: oneSource });
      return z.NEVER;
    }
    return { ...rest, input: inputIn(source, given[source.field], refused) };
  });

export const checkedResultsRequest: z.ZodType<CheckedResultsRequest> = z
  .object({ results: unchecked })
  .transform((body, refused) => ({ input: inputIn(results, body.results, refused) }));
