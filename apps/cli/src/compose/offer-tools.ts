import { AgentError, type Tool } from "@loopwright/core";
import type { BlobStore, ImageGenerator } from "@loopwright/core/ports";
import { vendorNamed } from "../config/vendors.ts";
import { keyOf } from "../settings/key-of.ts";
import type { ImageMaker } from "../settings/offered-tools.ts";
import type { Settings } from "../settings/settings.ts";

/** The tools that the settings offer beside the assistant's own; only their packages are loaded. @throws AgentError MODEL_KEY_MISSING */
export async function offerTools(
  { offered: { artifacts, images }, environment, organizationId }: Pick<Settings, "offered" | "environment" | "organizationId">,
  blobs: BlobStore,
): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  if (artifacts) tools.push((await import("@loopwright/tools-craft")).craftTool() as Tool);
  if (images !== undefined) {
    const { generateImage } = await import("@loopwright/tools-image");
    tools.push(generateImage({ generator: await generatorOf(images, { environment, organizationId }), blobs }) as Tool);
  }
  return tools;
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
