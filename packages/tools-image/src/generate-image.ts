import { AgentError, defineTool, type Tool, type ToolContext, type ToolEvent } from "@loopwright/core";
import type { BlobStore, GeneratedImage, ImageGenerator } from "@loopwright/core/ports";
import { fileName } from "@loopwright/core/stores";
import { envelope, snippet } from "@loopwright/tools-registry";
import { z } from "zod";

export interface GenerateImageArguments {
  readonly prompt: string;
  readonly shape?: "square" | "landscape" | "portrait" | undefined;
}

export interface GenerateImageOptions {
  readonly generator: ImageGenerator;
  /** Those of the store of the agent's sessions: `store.blobs`. The picture is kept there and belongs to the session. */
  readonly blobs: BlobStore;
  /** Bytes of a picture; a larger one is an error. Default 10 MiB. */
  readonly bytesMax?: number;
  /** Milliseconds for one picture. Default 180,000. */
  readonly timeoutMs?: number;
  /** Default `once`: after a crash nothing is drawn and paid a second time. With `idempotent` the call runs again. */
  readonly replay?: "once" | "idempotent";
}

const defaults = { bytesMax: 10 * 1024 * 1024, timeoutMs: 180_000 };
const promptMax = 4_000;

const parameters: z.ZodType<GenerateImageArguments> = z.object({
  prompt: z.string().trim().min(1).max(promptMax).describe("What the picture shows, with style, colours and light. One picture a call."),
  shape: z.enum(["square", "landscape", "portrait"]).optional().describe("Default: what suits the picture."),
});

/** The tool `generate_image`: a prompt in, a picture out, which is kept in the blob store and shown to the user. */
export function generateImage(options: GenerateImageOptions): Tool<GenerateImageArguments> {
  const { generator, bytesMax = defaults.bytesMax } = options;
  return defineTool({
    name: "generate_image",
    label: "Make a picture",
    description: "Makes a picture of a description and shows it to the user. Use it when the user asks for a picture.",
    parameters,
    replay: options.replay ?? "once",
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    async *execute({ prompt, shape }, context): AsyncGenerator<ToolEvent, void> {
      const step = context.progress("Generating", { icon: "WAND" });
      try {
        const image = await generator.generate({ prompt, ...(shape === undefined ? {} : { shape }) }, context);
        // Before the checks: the vendor counts a picture that is too large as well.
        if (image.usage) context.addUsage({ ...image.usage, provider: generator.name, model: generator.model });
        checkSize(image, bytesMax);
        const blob = await keep(image, options.blobs, context);
        step.end();
        yield completion({ prompt, image, blob, generator });
      } catch (error) {
        step.end("failed");
        throw error;
      }
    },
  });
}

function checkSize({ bytes }: GeneratedImage, bytesMax: number): void {
  if (bytes.byteLength <= bytesMax) return;
  throw new AgentError("PAYLOAD_TOO_LARGE", {
    message: `The picture has ${bytes.byteLength} bytes, more than the ${bytesMax} of \`bytesMax\`.`,
    fix: "Ask for a simpler picture, or raise `bytesMax`.",
  });
}

/** The key under which the server gives the picture out. */
async function keep({ bytes, mediaType }: GeneratedImage, blobs: BlobStore, { access, session }: ToolContext): Promise<string> {
  const blob = await fileName(bytes, mediaType);
  await blobs.put(access.scope, blob, { bytes, mediaType, ifAbsent: true, session: session.id });
  return blob;
}

interface Made {
  readonly prompt: string;
  readonly image: GeneratedImage;
  readonly blob: string;
  readonly generator: ImageGenerator;
}

function completion({ prompt, image: { bytes, mediaType }, blob, generator }: Made): ToolEvent {
  return {
    type: "complete",
    output: [
      { type: "text", text: envelope("It is the picture. Do not link to it.") },
      { type: "image", mediaType, source: { blob } },
    ],
    details: { blob, mediaType, sizeBytes: bytes.byteLength, generator: generator.name, model: generator.model },
    summary: envelope(`It is a picture of: ${snippet(prompt)}`),
  };
}
