import { defineTool, type JsonObject, type Tool } from "@loopwright/core";

/** The question and the choices of a call of `ask_user`. */
export interface Question {
  readonly question: string;
  readonly choices: readonly string[];
}

export const askUserName = "ask_user";

/** A client tool: it has no `execute`, so the run rests until the person at the keyboard has answered. */
export const askUserTool: Tool = defineTool({
  name: askUserName,
  label: "question",
  description:
    "Asks the user a question on the user's side and waits for the typed answer. Use it when something needed is unknown and cannot be found out otherwise.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", description: "One clear question." },
      choices: { type: "array", items: { type: "string" }, description: "Answers to choose from, where there are some." },
    },
    required: ["question"],
    additionalProperties: false,
  },
});

/** Reads the arguments of a call; a missing question becomes a general one. */
export function questionOf(args: JsonObject): Question {
  const { question, choices } = args;
  return {
    question: typeof question === "string" && question.trim() !== "" ? question : "The agent asks for your input.",
    choices: Array.isArray(choices) ? choices.filter((choice): choice is string => typeof choice === "string") : [],
  };
}
