import type OpenAI from "openai";
import { historyText } from "../server/script.ts";
import { type BenchTool, type Conversation, modelName, type Opening, type Outcome, systemPrompt } from "./contender.ts";

type Message = OpenAI.ChatCompletionMessageParam;
export type Chunk = OpenAI.ChatCompletionChunk;
export type Body = OpenAI.ChatCompletionCreateParamsStreaming;

/** Makes one model call and hands over every chunk of its answer. */
export type Complete = (body: Body, onChunk: (chunk: Chunk) => void) => Promise<void>;

interface Call {
  readonly id: string;
  readonly name: string;
  args: string;
}

const toolsFor = (tools: readonly BenchTool[]): OpenAI.ChatCompletionTool[] =>
  tools.map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } }));

/** The loop that people write by hand around a chat completions call: messages in an array, tools run all at once. */
export function handWrittenLoop(complete: Complete, { tools, history, onText, turnsMax }: Opening): Conversation {
  const messages: Message[] = [{ role: "system", content: systemPrompt }];
  for (let index = 0; index < history; index++)
    messages.push({ role: index % 2 === 0 ? "user" : "assistant", content: historyText(index) });
  const shown = toolsFor(tools);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));

  const turn = async (): Promise<{ text: string; calls: Call[] }> => {
    let text = "";
    const calls: Call[] = [];
    let finish: string | null = null;
    const body: Body = { model: modelName, messages, stream: true, stream_options: { include_usage: true } };
    if (shown.length > 0) body.tools = shown;
    await complete(body, (chunk) => {
      const choice = chunk.choices[0];
      if (!choice) return;
      const { delta } = choice;
      if (delta.content) {
        text += delta.content;
        onText(delta.content);
      }
      for (const part of delta.tool_calls ?? []) {
        const call = calls[part.index];
        if (call) call.args += part.function?.arguments ?? "";
        else calls[part.index] = { id: part.id ?? "", name: part.function?.name ?? "", args: part.function?.arguments ?? "" };
      }
      finish = choice.finish_reason ?? finish;
    });
    if (finish === null) throw new Error("The stream ended without a finish reason.");
    return { text, calls };
  };

  const runTool = async ({ id, name, args }: Call): Promise<Message> => {
    const tool = byName.get(name);
    const content = tool ? await tool.execute(JSON.parse(args) as Record<string, unknown>) : `There is no tool ${name}.`;
    return { role: "tool", tool_call_id: id, content };
  };

  return {
    async say(input): Promise<Outcome> {
      messages.push({ role: "user", content: input });
      for (let turns = 1; turns <= turnsMax; turns++) {
        const { text, calls } = await turn();
        if (calls.length === 0) {
          messages.push({ role: "assistant", content: text });
          return { text, turns };
        }
        const asked = calls.map(({ id, name, args }) => ({ id, type: "function" as const, function: { name, arguments: args } }));
        messages.push({ role: "assistant", content: text === "" ? null : text, tool_calls: asked });
        messages.push(...(await Promise.all(calls.map(runTool))));
      }
      throw new Error(`No answer after ${turnsMax} turns.`);
    },
    async close() {},
  };
}
