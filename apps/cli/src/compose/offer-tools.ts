import { readFile } from "node:fs/promises";
import { AgentError, type Tool } from "@loopwright/core";
import type { BlobStore, ImageGenerator } from "@loopwright/core/ports";
import type { Environment } from "../config/environment.ts";
import { vendorNamed } from "../config/vendors.ts";
import { keyOf } from "../settings/key-of.ts";
import type { ImageMaker } from "../settings/offered-tools.ts";
import type { Settings } from "../settings/settings.ts";

/** What these tools work with. */
export interface OfferParts {
  readonly blobs: BlobStore;
  /** The variables of child processes. */
  readonly children: Environment;
}

/** The tools that the settings offer beside the assistant's own; only their packages are loaded. @throws AgentError MODEL_KEY_MISSING, CONFIG_INVALID */
export async function offerTools(
  {
    offered: { artifacts, images, programsFile },
    environment,
    organizationId,
    filesDirectory,
  }: Pick<Settings, "offered" | "environment" | "organizationId" | "filesDirectory">,
  { blobs, children }: OfferParts,
): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  if (artifacts) tools.push((await import("@loopwright/tools-craft")).craftTool() as Tool);
  if (images !== undefined) {
    const { generateImage } = await import("@loopwright/tools-image");
    tools.push(generateImage({ generator: await generatorOf(images, { environment, organizationId }), blobs }) as Tool);
  }
  if (programsFile !== undefined) {
    const { cliExecute, readPrograms } = await import("@loopwright/tools-cli");
    const listed = readPrograms(await readList(programsFile), `\`${programsFile}\``);
    tools.push(cliExecute({ ...listed, directory: filesDirectory, environment: children }) as Tool);
  }
  return tools;
}

async function readList(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new AgentError("CONFIG_INVALID", {
      message: `The programs in \`${file}\` cannot be read: ${code}.`,
      fix: "Name a file that this user may read.",
      cause,
    });
  }
}

async function generatorOf(
  maker: ImageMaker,
  { environment, organizationId }: Pick<Settings, "environment" | "organizationId">,
): Promise<ImageGenerator> {
  if (maker === "drawn") return (await import("@loopwright/tools-image")).drawnImages();
  const vendor = vendorNamed(maker);
  const key = vendor && keyOf(vendor, environment);
  if (!key)
    throw new AgentError("MODEL_KEY_MISSING", {
      message: `Pictures of ${vendor?.title ?? maker} were chosen and ${vendor?.keys.join(" or ") ?? "its key"} is not set.`,
      fix: "Set it, or pass `--images drawn`, which draws shapes without a network.",
    });
  if (maker === "gemini") return (await import("@loopwright/providers-gemini")).geminiImages({ apiKey: key.value });
  const { openaiImages } = await import("@loopwright/providers-openai");
  return openaiImages({ apiKey: key.value, ...(organizationId ? { organization: organizationId } : {}) });
}
