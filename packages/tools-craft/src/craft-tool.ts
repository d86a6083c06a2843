import { AgentError, defineTool, type Tool, type ToolEvent } from "@loopwright/core";
import { envelope, snippet } from "@loopwright/tools-registry";
import { z } from "zod";
import { type Artifact, artifactOf, artifactsOf, craftName } from "./artifacts.ts";

export interface CraftToolOptions {
  /** Characters of one version. Default 200,000. */
  readonly charactersMax?: number;
  /** Versions of one artifact. Default 200. */
  readonly versionsMax?: number;
  /** Artifacts of a session. Default 100. */
  readonly artifactsMax?: number;
}

export interface CraftArguments {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly kind?: "code" | "text" | undefined;
  readonly language?: string | undefined;
  readonly content?: string | undefined;
  readonly edits?: readonly { readonly find: string; readonly replace: string }[] | undefined;
}

const parameters: z.ZodType<CraftArguments> = z
  .object({
    id: z.string().min(1).max(64).optional().describe("Of the artifact to change. Leave it out to begin a new one."),
    title: z.string().trim().min(1).max(200).optional().describe("Needed for a new one."),
    kind: z.enum(["code", "text"]).optional().describe("Default text."),
    language: z.string().max(40).optional().describe("Of code, for example typescript."),
    content: z.string().min(1).optional().describe("All of it."),
    edits: z
      .array(z.object({ find: z.string().min(1), replace: z.string() }))
      .min(1)
      .max(50)
      .optional()
      .describe("In place of content, to change a few places: each `find` stands in the artifact exactly once."),
  })
  .refine(({ content, edits }) => (content === undefined) !== (edits === undefined), "Give either `content` or `edits`.")
  .refine(
    ({ id, title, edits }) => id !== undefined || (title !== undefined && edits === undefined),
    "A new artifact needs `title` and `content`.",
  );

/** Characters of one delta. */
const pieceSize = 400;

/**
 * The tool `craft_tool`: makes code or a text that the user keeps, or a new version of one. What it makes streams as its output, stands in `details` of the
 * result, and is read by the model as already shown. Versions follow from the log alone: it is `pure`.
 */
export function craftTool({ charactersMax = 200_000, versionsMax = 200, artifactsMax = 100 }: CraftToolOptions = {}): Tool<CraftArguments> {
  return defineTool({
    name: craftName,
    label: "Artifact",
    description:
      "Makes a piece of code or a text that the user keeps and sees beside the conversation, or a new version of one. Do not repeat it in your answer.",
    parameters,
    replay: "pure",
    // Two calls of a turn would give the same number to two versions.
    sequential: true,
    async *execute(args, { session, signal }): AsyncGenerator<ToolEvent, void> {
      const messages = session.messages();
      const before = args.id === undefined ? undefined : artifactOf(messages, args.id);
      const known = artifactsOf(messages);
      if (args.id !== undefined && !before)
        throw unknown(
          args.id,
          known.map(({ id }) => id),
        );
      if (!before && known.length >= artifactsMax) throw tooMuch(`A session has at most ${artifactsMax} artifacts.`);
      if (before && before.version >= versionsMax) throw tooMuch(`An artifact has at most ${versionsMax} versions.`);
      const artifact = made(args, before, `artifact-${known.length + 1}`);
      if (artifact.content.length > charactersMax) throw tooMuch(`An artifact has at most ${charactersMax} characters.`);
      for (let at = 0; at < artifact.content.length; at += pieceSize) {
        signal.throwIfAborted();
        yield { type: "delta", delta: artifact.content.slice(at, at + pieceSize) };
      }
      const head = `${artifact.id}, version ${artifact.version}: ${artifact.title}`;
      const output = envelope(`${head}\n${artifact.content}`);
      yield { type: "complete", output, details: { artifact }, summary: envelope(`${head}\n${snippet(artifact.content)}`) };
    },
  });
}

function made(args: CraftArguments, before: Artifact | undefined, id: string): Artifact {
  const language = args.language ?? before?.language;
  return {
    id: before?.id ?? id,
    version: (before?.version ?? 0) + 1,
    title: args.title ?? before?.title ?? id,
    kind: args.kind ?? before?.kind ?? "text",
    ...(language === undefined ? {} : { language }),
    content: args.content ?? edited(before?.content ?? "", args.edits ?? []),
  };
}

/** @throws AgentError TOOL_ARGUMENTS for a place that is not there, or not only once */
function edited(content: string, edits: NonNullable<CraftArguments["edits"]>): string {
  return edits.reduce((text, { find, replace }, at) => {
    const place = text.indexOf(find);
    if (place === -1 || text.includes(find, place + 1))
      throw new AgentError("TOOL_ARGUMENTS", {
        message: `The text of edit ${at + 1} stands ${place === -1 ? "nowhere" : "more than once"} in the artifact. Nothing was changed.`,
        fix: "Give a longer piece of its text, letter by letter, or all of it as `content`.",
      });
    return text.slice(0, place) + replace + text.slice(place + find.length);
  }, content);
}

const unknown = (id: string, ids: readonly string[]): AgentError =>
  new AgentError("TOOL_ARGUMENTS", {
    message: `There is no artifact \`${id.slice(0, 64)}\`.`,
    fix: ids.length > 0 ? `Use one of: ${ids.join(", ")}.` : "Leave `id` out: the session has no artifact yet.",
  });

const tooMuch = (message: string): AgentError =>
  new AgentError("TOOL_ARGUMENTS", { message, fix: "Change what there is, or make it shorter." });
