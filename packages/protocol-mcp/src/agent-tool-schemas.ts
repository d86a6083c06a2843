import { z } from "zod";

/** What a tool of an agent takes. */
export const askSchema: z.ZodObject<{ input: z.ZodString; conversation: z.ZodOptional<z.ZodString> }> = z.object({
  input: z.string().min(1).describe("What to ask. The agent sees nothing else of your conversation."),
  conversation: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("A name of your choice. Calls with the same name continue one conversation with the agent. Default: a new one."),
});

/** What it gives beside the text. */
export const answerSchema: z.ZodObject<{ text: z.ZodString; status: z.ZodEnum; session: z.ZodString }> = z.object({
  text: z.string().describe("The answer."),
  status: z.enum(["completed", "waiting", "failed"]),
  session: z.string().describe("The session on the server, for people."),
});
